"""Posts pasted whole, each run: which share of their good blocks ran?

python tests/soak/soak_pages.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.kernel import KernelPool, own_interpreter
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.repair import Repaired
from tapeviz.trace.model import Trace
from tests.repair.posts import Block, Post, read_posts
from tests.soak.figures import TINY, print_detail, print_row


def has_run(block: Block, repaired: Repaired, trace: Trace) -> bool:
    """Whether it ran to its end, or to the error that it is about."""
    is_left_out = any(
        block.has(part.line) or block.has(part.last_line) for part in repaired.skipped
    )
    raised = any(block.has(failure.line) for failure in trace.failures)
    return repaired.error is None and not is_left_out and raised == block.raises


def blocks_that_failed(recorder: Recorder, post: Post) -> list[Block]:
    live = recorder.record(Snippet(post.text))
    try:
        trace = live.wait(120)
    finally:
        live.release()
    return [block for block in post.good if not has_run(block, live.repaired, trace)]


def main() -> None:
    posts = read_posts()[:: 10 if TINY else 1]
    tried, failed = 0, 0
    with KernelPool(own_interpreter()) as pool:
        pool.warm()
        for post in posts:
            tried += len(post.good)
            for block in blocks_that_failed(Recorder(pool), post):
                failed += 1
                print_detail(f"{post.title}: lines {block.first} to {block.last} did not run")
    print_row(
        f"good blocks of {len(posts)} posts", tried, failed, f"{(tried - failed) / tried:.1%} ran"
    )


if __name__ == "__main__":
    main()
