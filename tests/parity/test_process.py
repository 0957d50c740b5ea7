"""A snippet finds the process that ``python snippet.py`` is: same output, byte for byte."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz.recording.live import Recorder, Snippet

from ..conftest import INTERPRETER
from ..sampling import sampled
from .process_snippets import LIFETIMES, ON_STDERR_TOO, SNIPPETS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks, signals, /bin/echo")

NAME = "snippet.py"
DIFFER = {
    (3, 10): {"loggers": "TensorFlow, loaded already, imports IPython 8, which adds a filter"},
    (3, 12): {
        "recursion_ends": "its limit of C frames counts those below the snippet",
        "class_of_the_buffer": "an interpreter of 3.12 begins with objects that gc has frozen",
    },
}


def _row(name: str) -> object:
    known = DIFFER.get(sys.version_info[:2], {})
    marks = [pytest.mark.xfail(reason=known[name])] if name in known else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", sampled([_row(name) for name in SNIPPETS], 7))
def test_it_is_the_same_process(name, recorder, tmp_path):
    check(SNIPPETS[name], recorder, tmp_path, with_stderr=name in ON_STDERR_TOO)


def test_what_the_snippet_drops_dies_then(recorder, tmp_path):
    check(LIFETIMES, recorder, tmp_path)


def check(text: str, recorder: Recorder, tmp_path: Path, with_stderr: bool = False) -> None:
    (tmp_path / NAME).write_text(text, encoding="utf-8")
    live = recorder.record(Snippet(text, NAME, (), tmp_path))
    plain = plain_run(tmp_path)
    recorded = live.wait(120)
    live.release()
    said = {
        stream: "".join(text for where, text in recorded.printed if where == stream)
        for stream in ("stdout", "stderr")
    }
    assert said["stdout"] == plain.stdout
    if with_stderr:
        assert said["stderr"] == plain.stderr


def plain_run(folder: Path) -> subprocess.CompletedProcess[str]:
    """A run as from a terminal: a shell lets what it starts with ``&`` ignore SIGINT."""
    environment = dict(os.environ)
    for name in ("PYTHONUNBUFFERED", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"):
        environment.pop(name, None)
    return subprocess.run(
        [INTERPRETER, NAME],
        cwd=folder,
        env=environment | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


THREAD = """
import threading, time
import tensorflow as tf
x = tf.Variable(3.0)
def work():
    time.sleep(0.3)
    with tf.GradientTape() as tape:
        y = x * x
    print(float(tape.gradient(y, x)))
threading.Thread(target=work).start()
"""


def test_a_thread_that_goes_on_after_the_last_line_is_recorded(recorder: Recorder) -> None:
    live = recorder.record(Snippet(THREAD))
    trace = live.wait(60)
    live.release()
    assert ("stdout", "6.0\n") in trace.printed
    assert [len(call.results) for call in trace.calls] == [1]


CRASH = """
import os, signal
import tensorflow as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x).numpy())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("_", range(4))
def test_a_gradient_that_was_printed_before_a_crash_is_recorded(recorder: Recorder, _: int) -> None:
    live = recorder.record(Snippet(CRASH))
    trace = live.wait(60)
    live.release()
    assert trace.ending.how == "died"
    # What is on its way when the signal comes may be lost, the line too.
    if ("stdout", "6.0\n") in trace.printed:
        assert [(call.ended, len(call.results)) for call in trace.calls] == [(True, 1)]
