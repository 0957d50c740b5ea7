"""Posts pasted whole: the code that a reader would run stays code; nothing around it stops it."""

from __future__ import annotations

from tapeviz.repair import block_starts, repair
from tests.repair.posts import read_posts


def test_good_blocks_of_posts_are_there_to_run() -> None:
    good, lost = 0, []
    for post in read_posts():
        found = repair(post.text)
        for block in post.good:
            good += 1
            is_skipped = any(
                block.has(part.line) or block.has(part.last_line) for part in found.skipped
            )
            if found.error or is_skipped:
                lost.append((post.title, block.first, found.error or found.skipped))
    assert good > 80
    assert lost == []


def test_a_repaired_page_knows_where_its_blocks_begin() -> None:
    for post in read_posts():
        found = repair(post.text)
        starts = block_starts(found.text)
        assert len(starts) <= found.blocks, post.title
        if len(post.good) > 1 and not found.error:
            assert len(starts) > 1, post.title
    assert block_starts("x = 1\n# a comment\ny = 2\n") == ()
