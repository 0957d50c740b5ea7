"""A snippet in a real kernel: what comes back, in which order, and what can be asked afterwards."""

from __future__ import annotations

import os
import sys
import time
import weakref
from pathlib import Path

import pytest

from tapeviz.errors import TapevizError
from tapeviz.kernel import KernelPool, Run, RunEnd, RunRequest
from tests.waiting import PATIENCE

from .conftest import Heard


def test_events_and_output_arrive_in_order_on_one_thread(play):
    heard = play(
        "print('one'); emit(kind='a', word='ü…', blob=b'\\x00\\xff')\n"
        "print('two'); emit(kind='b')\nprint('three')"
    )
    assert heard.kinds == ["begun", "a", "b", "ended"]
    assert heard.events_of("a")[0]["word"] == "ü…"
    assert b"\x00\xff" in heard.blobs
    assert heard.text() == "one\ntwo\nthree\n"
    assert heard.calls == [*["events", "output"] * 3, "events", "ended"]
    assert len(heard.threads) == 1
    assert heard.end == RunEnd("finished")


def test_options_and_arguments_reach_the_snippet(play):
    heard = play(
        "import sys; emit(kind='argv', argv=sys.argv)",
        filename="lesson.py",
        argv=("--fast", "ä b"),
        options={"hold": True, "depth": [1, 2]},
    )
    assert heard.events_of("begun")[0]["options"] == {"hold": True, "depth": [1, 2]}
    assert heard.events_of("argv")[0]["argv"] == ["lesson.py", "--fast", "ä b"]


def test_each_run_is_a_fresh_process_with_tensorflow_there(play):
    source = (
        "import sys, os, random\n"
        "warm = 'tensorflow' in sys.modules\n"
        "import tensorflow as tf, numpy as np\n"
        "emit(kind='me', pid=os.getpid(), warm=warm, left=hasattr(sys, 'left'),\n"
        "     numbers=[random.random(), np.random.rand(), float(tf.random.uniform([]))])\n"
        "sys.left = 1"
    )
    first, second = (play(source).events_of("me")[0] for _ in range(2))
    assert first["pid"] != second["pid"]
    assert not second["left"]
    assert second["warm"]
    assert all(a != b for a, b in zip(first["numbers"], second["numbers"], strict=True))


def test_a_tape_computes_what_it_should(play):
    heard = play(
        "import tensorflow as tf\nv = tf.Variable(3.0)\n"
        "with tf.GradientTape() as tape:\n    y = v * v\n"
        "emit(kind='gradient', value=float(tape.gradient(y, v)))"
    )
    assert heard.events_of("gradient")[0]["value"] == 6.0


def test_answers_after_the_end(play):
    heard = play("big = b'\\x01' * 3_000_000")
    content, buffers = heard.run.fetch("value", {"name": "big"})
    assert content["repr"].startswith("b'\\x01")
    assert buffers == [b"\x01" * 3_000_000]
    with pytest.raises(TapevizError, match="KeyError"):
        heard.run.fetch("value", {"name": "nothing"})
    heard.run.release()
    with pytest.raises(TapevizError, match="has ended"):
        heard.run.fetch("value", {"name": "big"})


def test_no_answers_before_the_end(start):
    heard = start("import time; time.sleep(0.5)")
    with pytest.raises(TapevizError, match="not ended"):
        heard.run.fetch("value", {"name": "x"})
    heard.run.wait(PATIENCE)


def test_a_bug_of_the_recorder_is_told_as_a_failure(play):
    heard = play("print(1)", options={"fail": True})
    assert heard.end.reason == "failed"
    assert "ValueError: the recorder has a bug" in heard.end.detail


def test_a_listener_that_raises_does_not_stop_the_run(pool: KernelPool):
    class Broken(Heard):
        def events(self, batch, blob):
            raise RuntimeError("broken listener")

    heard = Broken()
    run = pool.run(RunRequest("print('on')"), heard)
    assert run.wait(PATIENCE) == RunEnd("finished")
    assert heard.text() == "on\n"
    run.release()


def test_a_file_runs_in_its_folder_and_text_in_an_empty_one(play, tmp_path: Path):
    (tmp_path / "beside.py").write_text("word = 'found'")
    source = "import os, sys; emit(kind='at', at=os.getcwd(), path=sys.path, list=os.listdir())\n"
    there = play(source + "import beside; print(beside.word)", cwd=tmp_path)
    assert there.events_of("at")[0]["at"] == str(tmp_path)
    assert there.events_of("at")[0]["path"][0] == str(tmp_path)
    assert there.text() == "found\n"
    alone = play(source).events_of("at")[0]
    assert alone["list"] == []
    assert not set(alone["path"]) & {"", str(Path("tapeviz/kernel").resolve())}


def test_the_snippet_meets_a_plain_python(play):
    heard = play(
        "import asyncio, os, subprocess, sys, warnings\n"
        "async def main():\n    await asyncio.sleep(0)\n    return 5\n"
        "emit(kind='asyncio', value=asyncio.run(main()))\n"
        "emit(kind='loop', value=asyncio.new_event_loop().run_until_complete(main()))\n"
        "emit(kind='seen', ours='tapeviz' in sys.modules, colour=os.environ.get('FORCE_COLOR'),\n"
        "     names=[n for n in ('get_ipython', 'display') if n in dir(__builtins__)],\n"
        "     tty=sys.stdout.isatty(), encoding=sys.stdout.encoding)\n"
        "sys.stdout.buffer.write(b'bytes\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(6 * 7)'], stdout=sys.stdout, check=True)\n"
    )
    assert heard.events_of("asyncio")[0]["value"] == heard.events_of("loop")[0]["value"] == 5
    seen = heard.events_of("seen")[0]
    assert not seen["ours"]
    assert seen["names"] == []
    assert seen["colour"] == os.environ.get("FORCE_COLOR")
    assert (seen["tty"], seen["encoding"]) == (False, "utf-8")
    assert heard.text() == "bytes\n42\n"


def test_a_thread_left_behind_is_waited_for(play):
    heard = play(
        "import threading, time\n"
        "def late():\n    time.sleep(0.3)\n    print('late')\n"
        "threading.Thread(target=late).start()"
    )
    assert heard.text() == "late\n"


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are not captured there")
def test_the_order_of_all_kinds_of_output(play):
    heard = play(
        "import ctypes, os, sys\n"
        "for n in range(20):\n"
        "    print('p', n)\n"
        "    os.system(f'echo s {n}')\n"
        "    os.write(1, b'w %d\\n' % n)\n"
        "    print('e', n, file=sys.stderr)\n"
        "ctypes.CDLL(None).printf(b'c\\n')"
    )
    expected = "".join(f"p {n}\ns {n}\nw {n}\n" for n in range(20))
    assert heard.text() == expected + "c\n"
    assert heard.text("stderr") == "".join(f"e {n}\n" for n in range(20))
    # The two streams alternate as they were written.
    assert [stream for stream, _ in heard.written][:4].count("stderr") >= 1


def test_thousands_of_batches_all_arrive(play):
    heard = play("for n in range(5000):\n    emit(kind='n', n=n, pad='x' * 500)")
    assert [event["n"] for event in heard.events_of("n")] == list(range(5000))


def test_a_warm_run_takes_a_kernel_that_waits(pool: KernelPool, play):
    while len(pool._current._ready) < 2:  # until the reserve is full
        time.sleep(0.01)
    waiting = {kernel.pid for kernel in pool._current._ready}
    heard = play("import os; emit(kind='me', pid=os.getpid())")
    assert heard.events_of("me")[0]["pid"] in waiting


def test_events_after_a_lost_message_are_left_out_and_a_note_says_so() -> None:
    heard = Heard()
    run = Run(1, RunRequest("1"), heard, lambda run: False)
    run.receive_events(1, b'{"e":"begin"}', b"ab")
    for number in (3, 4):
        run.receive_events(number, b'{"e":"op"}', b"cd")
    assert [event["e"] for event in heard.events_heard] == ["begin", "note"]
    assert "was lost" in heard.events_heard[1]["message"]
    assert heard.blobs == [b"ab", b""]


def test_an_ended_run_lets_its_listener_go() -> None:
    heard = Heard()
    kept = weakref.ref(heard)
    run = Run(1, RunRequest("1"), heard, lambda run: False)
    run.end_unbegun()
    assert heard.end is not None
    run.receive_output("stdout", "too late")
    assert heard.text() == ""
    del heard
    assert kept() is None
