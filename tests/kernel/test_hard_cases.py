"""Snippets that loop, crash, flood or ask: each run ends, with its reason."""

from __future__ import annotations

import json
import math
import time

import pytest

from tapeviz.kernel import RunEnd
from tapeviz.kernel.inside import wire
from tests.waiting import PATIENCE


def stopped(heard, wait: float) -> RunEnd:
    """The end of a run that is stopped after ``wait`` seconds. Its signal tells what it took: none
    for an interrupt, 15 (terminate), 9 (kill)."""
    time.sleep(wait)
    heard.run.stop()
    return heard.run.wait(PATIENCE)


def test_stop_interrupts_a_loop(start):
    heard = start("print('in')\nwhile True:\n    pass")
    end = stopped(heard, 0.2)
    assert (end.reason, end.exit_code, end.signal) == ("interrupted", None, None)
    assert heard.events_of("raised")[0]["type"] == "KeyboardInterrupt"
    assert heard.text() == "in\n"
    assert heard.run.fetch("value", {"name": "__file__"})[0]["repr"] == "'<snippet>'"


def test_stop_ends_a_loop_in_c_and_tells_its_line(start):
    heard = start("print('before')\nx = 1\nsum(range(10**11))", filename="löop.py")
    end = stopped(heard, 0.3)
    assert end.reason == "interrupted"
    assert end.signal == 15
    assert end.line == 3
    assert "line 3" in end.detail
    assert heard.text() == "before\n"


def test_stop_kills_what_ignores_everything(start):
    heard = start(
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True:\n    try:\n        time.sleep(1)\n    except BaseException:\n        pass"
    )
    end = stopped(heard, 0.2)
    assert (end.reason, end.signal) == ("interrupted", 9)


def test_the_time_limit(start):
    heard = start("import time\nwhile True:\n    time.sleep(0.01)", timeout=0.5)
    end = heard.run.wait(PATIENCE)
    assert end.reason == "timeout"
    assert "0.5 s" in end.detail


def test_a_run_within_its_time_limit_finishes(play):
    for seconds in (60, 1e10, math.inf):
        assert play("print(1)", timeout=seconds).end == RunEnd("finished")


@pytest.mark.parametrize(
    ("source", "exit_code", "signal", "words"),
    [
        ("os.abort()", None, 6, "SIGABRT"),
        ("os._exit(3)", 3, None, "exit status 3"),
        ("os.kill(os.getpid(), 9)", None, 9, "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", None, 11, "SIGSEGV"),
    ],
)
def test_a_process_that_dies(play, source, exit_code, signal, words):
    # ZeroMQ's own thread writes a message to the socket a moment after Python has handed it over.
    # Only where the process ends itself by os._exit or os.abort is it waited for.
    pause = "" if source.startswith(("os._exit", "os.abort")) else "time.sleep(0.2); "
    prefix = "import os, time\nprint('said')\nemit(kind='before', blob=b'12')\n"
    heard = play(prefix + pause + source)
    end = heard.end
    assert (end.reason, end.exit_code, end.signal) == ("died", exit_code, signal)
    assert words in end.detail
    assert heard.text() == "said\n"
    assert heard.kinds == ["begun", "before"]
    if signal != 9:
        assert end.line == 4
        assert "line 4" in end.detail
    assert play("print('next')").text() == "next\n"


@pytest.mark.parametrize("ending", ["os.abort()", "os._exit(0)"])
def test_events_held_back_are_sent_before_an_end(play, ending):
    source = (
        "import os\nfor n in range(20000):\n    emit(kind='n', n=n)\nprint('x' * 5000000)\n"
        + ending
    )
    heard = play(source, options={"hold": True})
    assert [event["n"] for event in heard.events_of("n")] == list(range(20000))
    assert "characters left out" in heard.text()
    assert heard.end.reason == "died"


def test_a_c_librarys_last_words_are_shown(play):
    heard = play(
        "import ctypes, os\n"
        "c = ctypes.PyDLL(None)\n"  # holds the interpreter: nobody in the process can read the pipe
        "c.write(2, b'Check failed: x\\n', 16), c.abort()"
    )
    assert heard.end.signal == 6
    assert "Check failed: x" in heard.text("stderr") or heard.end.line == 3


def test_an_ended_child_of_the_snippet_is_not_its_end(play):
    heard = play(
        "import os\npid = os.fork()\n"
        "if pid == 0:\n    print('child', flush=True)\n    os._exit(7)\n"
        "emit(kind='child', status=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert heard.end == RunEnd("finished")
    assert heard.events_of("child")[0]["status"] == 7
    assert heard.text() == "child\n"


def test_sys_exit(play):
    heard = play("import sys; sys.exit(2)")
    assert heard.end == RunEnd("finished")
    assert heard.events_of("raised")[0] == {"kind": "raised", "type": "SystemExit", "message": "2"}


def test_input_is_refused(play):
    source = "import sys\nassert sys.stdin.read() == ''\nname = input('Name? ')"
    heard = play(source, answers=[None, None])
    raised = heard.events_of("raised")[0]
    assert raised["type"] == "EOFError"
    assert raised["message"] == "EOF when reading a line"
    assert heard.text() == "Name? "


def test_input_reads_what_is_typed(play):
    source = (
        "import getpass\nfirst = input('Name? ')\nprint('Hello', first)\n"
        "print(len(getpass.getpass('Word: ')), repr(input()))"
    )
    heard = play(source, answers=["Ärmel 😀", "secret", ""], has_terminal=True)
    assert heard.questions == [("Name? ", False), ("Word: ", True), ("", False)]
    assert heard.text() == "Name? Hello Ärmel 😀\n6 ''\n"
    assert heard.end == RunEnd("finished")


def test_a_secret_without_a_terminal_is_a_line_of_the_standard_input(play):
    source = "import getpass\nprint(getpass.getpass('Word: '))\ngetpass.getpass()"
    heard = play(source, answers=["secret", None])
    assert [is_secret for _, is_secret in heard.questions] == [False, False]
    assert heard.text() == "secret\n"
    assert "Password input may be echoed.\nWord: " in heard.text("stderr")
    assert heard.events_of("raised")[0]["type"] == "EOFError"


def test_standard_input_reads_what_is_typed(play):
    source = (
        "import io, sys\nprint([line for line in sys.stdin], sys.stdin.readline(), end='')\n"
        "print(repr(sys.stdin.read()), sys.stdin.fileno(), sys.stdin.isatty())\n"
        "sys.stdin = io.StringIO('given')\nprint(input('? '))"
    )
    heard = play(source, answers=["a", "b", None, "one", "two", "thrée", None])
    assert heard.text() == "['a\\n', 'b\\n'] one\n'two\\nthrée\\n' 0 False\n? given\n"


def test_stop_ends_the_waiting_for_input(start):
    heard = start("print('ready')\ninput('Name? ')")
    end = stopped(heard, 0.3)
    assert (end.reason, end.signal) == ("interrupted", None)
    assert heard.events_of("raised")[0]["type"] == "KeyboardInterrupt"


def test_a_flood_of_prints(play):
    heard = play("line = 'y' * 99\nfor n in range(1_000_000):\n    print(line)\nprint('the end')")
    text = heard.text()
    assert heard.kinds == ["begun", "ended"]
    assert heard.end == RunEnd("finished")
    assert 1_000_000 < len(text) < 1_100_000
    assert "… 98.9 MB left out …" in text
    assert text.endswith("the end\n")


def test_a_flood_from_a_subprocess(play):
    heard = play("import os; os.system('yes tapeviz | head -c 20000000'); print('done')")
    text = heard.text()
    assert len(text) < 1_100_000
    assert "left out" in text
    assert text.endswith("done\n")


def test_one_endless_line(play):
    heard = play("print('z' * 1_000_000); print('short')")
    first, second, last = heard.text().split("\n")
    assert first == "z" * 10_000 + "… 990,000 characters left out"
    assert (second, last) == ("short", "")


def test_stop_before_the_beginning_and_after_the_end(pool, play):
    heard = play("pass")
    heard.run.stop()
    heard.run.stop()
    assert heard.end == RunEnd("finished")


def test_releasing_a_running_snippet_ends_it(start):
    heard = start("import time; time.sleep(60)")
    heard.run.release()
    assert heard.run.wait(PATIENCE).reason == "interrupted"


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("import sys; sys.modules.clear(); print('on')", "on\n"),
        ("import builtins; builtins.len = None; print('on')", "on\n"),
        ("import builtins; vars(builtins).pop('isinstance'); print('on')", "on\n"),
        (
            "import sys; sys.modules.clear(); import keyword; print(len(keyword.kwlist) > 9)",
            "True\n",
        ),
        ("import json; json.dumps = None; print('on')", "on\n"),
        ("import threading; threading.Lock = threading.Condition = None; print('on')", "on\n"),
        ("import time, zmq; time.monotonic = zmq.Socket = None; print('on')", "on\n"),
        ("import linecache; del linecache.getlines; linecache.cache = None; print('on')", "on\n"),
        ("import os; os.getpid = lambda: 7; print('on')", "on\n"),
    ],
)
def test_a_snippet_that_takes_away_what_the_kernel_needs_ends(play, source, printed):
    heard = play(source)
    assert (heard.end, heard.kinds) == (RunEnd("finished"), ["begun", "ended"])
    assert (heard.text(), heard.text("stderr")) == (printed, "")
    assert play("print(len([1]))").text() == "1\n"


def test_half_of_a_character_is_sent_as_python_prints_it():
    words = "\ud800 \U0001f600 \\ud800 \udc00\ud800\ud800"
    sent = wire._ESCAPE.sub(wire._as_printed, json.dumps(words))
    assert json.loads(sent) == words.encode("utf-8", "backslashreplace").decode()
