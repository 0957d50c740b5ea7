"""A trial writes into a folder of its own, in which what stands beside the snippet is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeviz.fixes import try_fixes
from tapeviz.recording.live import Snippet

from .test_trying import diagnosed

if TYPE_CHECKING:
    from pathlib import Path

    from tapeviz.recording.live import Recorder


def test_trials_leave_the_files_of_the_user_alone(tmp_path: Path, recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw, state = tf.Variable(2.0), tf.Variable(0.0)\n"
        "k = float(open('data.txt').read())\nwith tf.GradientTape() as tape:\n"
        "    state.assign(k * w)\n    loss = state + 1.0\ntape.gradient(loss, w)\n"
        "with open('log.txt', 'a') as log:\n    log.write('run ')\n"
    )
    (tmp_path / "data.txt").write_text("5")
    snippet = Snippet(text, directory=tmp_path)
    trace, diagnosis = diagnosed(recorder, snippet)
    mended = try_fixes(trace, diagnosis, recorder, like=snippet)
    assert mended.calls[-1].findings[0].fixes
    assert (tmp_path / "log.txt").read_text() == "run "
