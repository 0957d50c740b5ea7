"""The app as a process of its own, closed in the midst of things: how it ends, and what it says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tapeviz.trace.stored.file import save
from tests.traces import Script

PROGRAM = """
import faulthandler, os, signal, sys, time
faulthandler.dump_traceback_later(100, exit=True)  # where it hangs, if it does
from PySide6.QtCore import QTimer
from tapeviz.app import main
from tapeviz.cli import main as tapeviz

way = sys.argv.pop(1)


def close(window):
    document = window.document
    if way == "signal":
        document.text.edit("x = 1  # not saved")
        os.kill(os.getpid(), signal.SIGTERM)
        return
    if way == "busy":
        document.background.submit("arrange", lambda: time.sleep(600), print)
    if way == "other-kernel":
        window.kernels._pools.choose(window.kernels._pools.choice)
    window.menus.actions["quit"].trigger()


def is_time(window):
    document = window.document
    return {
        "run": document.runs.ops > 100,
        "layout": "arrange" in document.background.busy,
        "fixes": "fixes" in document.background.busy,
    }.get(way, True)


def watch(window, paths):
    opened(window, paths)
    timer = QTimer(window)
    timer.timeout.connect(lambda: is_time(window) and (timer.stop(), close(window)))
    timer.start(5)


opened, main.open_first = main.open_first, watch
sys.exit(tapeviz())
"""
ENDLESS = "x = tf.Variable(1.0)\nwhile True:\n    x.assign_add(1.0)\n"
SNIPPET = (
    "x = tf.Variable(1.0)\nc = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n"
    "    c.assign(3.0 * x)\n    y = c * c\ng = t.gradient(y, x)\n"
)


RUNS = ("run", "fixes")
"""Ways that need a snippet that runs; in the others TensorFlow is still being imported."""


def long_recording(path: Path) -> None:
    """A recording whose layout takes a while."""
    script = Script("x = tf.Variable(1.0)\n")
    x = script.variable("x", value=1.0)
    tape = script.tape()
    y = script.read(x)
    for _ in range(3000):
        y = script.op("Mul", [script.op("Sin", [y], line=1), script.read(x)], line=1)
    with script.call(tape, [y], [x], line=1) as results:
        results.append(script.tensor(value=1.0))
    save(script.recording(), path)


def end_of(way: str, home: Path) -> tuple[int, list[str]]:
    """Exit status, and what it said on standard error."""
    file = home / ("snippet.tape" if way == "layout" else "snippet.py")
    if way == "layout":
        long_recording(file)
    else:
        file.write_text(ENDLESS if way == "run" else SNIPPET)
    path = os.environ.get("PYTHONPATH", "")
    if way not in RUNS:
        (home / "slow").mkdir()
        (home / "slow" / "tensorflow.py").write_text("import time\ntime.sleep(90)\n")
        path = os.pathsep.join(filter(None, (str(home / "slow"), path)))
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, way, str(file)],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "TAPEVIZ_HOME": str(home),
            "PYTHONPATH": path,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = [line for line in ended.stderr.splitlines() if "propagateSizeHints" not in line]
    return ended.returncode, said


@pytest.mark.parametrize("way", ["at-once", "run", "layout", "fixes", "busy", "other-kernel"])
def test_it_ends_well_whatever_it_was_doing(way: str, tmp_path: Path) -> None:
    assert end_of(way, tmp_path) == (0, [])


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows ends a process by force")
def test_asked_to_end_by_the_system_it_keeps_the_text(tmp_path: Path) -> None:
    assert end_of("signal", tmp_path) == (0, [])
    drafts = list((tmp_path / "drafts").glob("*.json"))
    assert len(drafts) == 1
    assert "not saved" in drafts[0].read_text(encoding="utf-8")
