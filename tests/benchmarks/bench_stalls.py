"""Does a run ever wait for a kernel that has lost a message? The slowest run beside the median.

    python tests/benchmarks/bench_stalls.py [--python P] [--launched] [--runs N] [--light] [SNIPPET]

Each run is recorded and its fixes are tried, in one pool, as ``tapeviz explain`` does. ``--light``
sends two requests and four questions to a kernel whose TensorFlow is an empty module instead: many
times as many messages a second.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from figures import print_row  # noqa: E402

from tapeviz.analysis import diagnose  # noqa: E402
from tapeviz.files.examples import default_example  # noqa: E402
from tapeviz.fixes import try_fixes  # noqa: E402
from tapeviz.kernel import (  # noqa: E402
    KernelPool,
    RunEnd,
    RunRequest,
    choose_interpreter,
    own_interpreter,
    supply,
)
from tapeviz.recording.live import Recorder, Snippet  # noqa: E402

FAKE_RECORDER = ROOT / "tests" / "kernel" / "fake_recorder"


class Deaf:
    """A listener that only waits."""

    def events(self, batch: list[bytes], blob: bytes) -> None:
        pass

    def output(self, stream: str, text: str) -> None:
        pass

    def ended(self, end: RunEnd) -> None:
        pass


def explain(recorder: Recorder, path: Path) -> None:
    """One snippet with its fixes."""
    text = path.read_text(encoding="utf-8")
    live = recorder.record(Snippet(text, path.name))
    trace = live.wait(300)
    mended = try_fixes(trace, diagnose(trace), recorder, like=Snippet(text, path.name))
    live.release()
    found = [finding for call in mended.calls for finding in call.findings]
    assert any(finding.fixes for finding in found), trace.ending


def exchange(pool: KernelPool) -> None:
    """One run and four questions, each sent the moment the former answer has come."""
    run = pool.run(RunRequest("value = b'1'\nprint(1)"), Deaf())
    run.wait(300)
    for _ in range(4):
        assert run.fetch("value", {"name": "value"}, 300)[1] == [b"1"]
    run.release()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python")
    parser.add_argument("--launched", action="store_true")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("snippet", nargs="?", type=Path, default=default_example().path)
    asked = parser.parse_args()
    if asked.launched:
        supply.CAN_FORK = False
    choice = choose_interpreter(asked.python) if asked.python else own_interpreter()
    with tempfile.TemporaryDirectory() as folder:
        if asked.light:
            (Path(folder) / "tensorflow.py").write_text("__version__ = '2.21.0'\n")
            (Path(folder) / "keras.py").touch()
            os.environ["PYTHONPATH"] = folder
        recorder = FAKE_RECORDER if asked.light else None
        with KernelPool(choice, recorder=recorder) as pool:
            took = []
            for _ in range(asked.runs + 1):
                began = time.perf_counter()
                if asked.light:
                    exchange(pool)
                else:
                    explain(Recorder(pool), asked.snippet)
                took.append(time.perf_counter() - began)
            versions = pool.status.versions
    first, *rest = took
    middle = median(rest)
    slow = [f"{gap:.1f}" for gap in rest if gap > 3 * middle]
    assert versions is not None
    print(
        f"ipykernel {versions.ipykernel:7} Python {versions.python:8}"
        f" {'launched' if asked.launched else 'forked':9} {len(rest)} runs:"
        f" first {first:.1f} s, median {middle:.2f} s, longest {max(rest):.2f} s"
        f" ({max(rest) / middle:.1f} times), over three times: {len(slow)} {' '.join(slow)}",
        flush=True,
    )
    print_row(
        f"the longest of {len(rest)} runs with fixes, to the median",
        f"{max(rest) / middle:.1f} times",
        "3 times",
    )


if __name__ == "__main__":
    main()
