"""Kernels that die in forty ways, and programs that hang in twenty: told, stopped, and the next
run works.

python tests/soak/soak_kernels.py [deaths|stuck] [NAME…]
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.kernel import KernelPool, own_interpreter
from tapeviz.recording.live import Listener, Recorder, Snippet
from tests.soak.figures import LONG, TINY, print_detail, print_row

SIGNALS = "SEGV BUS FPE ILL ABRT KILL TERM HUP INT QUIT PIPE ALRM USR1 USR2 TRAP SYS XCPU STKFLT"
_NULL = "import ctypes\nctypes.string_at(0)"
DEATHS = {
    **{
        f"SIG{name}": f"import os, signal\nos.kill(os.getpid(), signal.SIG{name})\n"
        "import time; time.sleep(0.2)"
        for name in SIGNALS.split()
    },
    "os._exit": "import os\nos._exit(3)",
    "os.abort": "import os\nos.abort()",
    "sys.exit": "import sys\nsys.exit(4)",
    "exit with words": "raise SystemExit('enough')",
    "null pointer": _NULL,
    "null pointer in a thread": f"import threading\ndef f():\n    {_NULL.replace(chr(10), '; ')}\n"
    "t = threading.Thread(target=f); t.start(); t.join()",
    "C exit": "import ctypes\nctypes.CDLL(None).exit(5)",
    "exec": "import os\nos.execv('/bin/true', ['true'])",
    "all descriptors closed": "import os\nos.closerange(0, 4096)\nprint('gone')",
    "standard output closed": "import sys\nsys.stdout.close()\nprint('x')",
    "process group killed": "import os, signal\nos.killpg(0, signal.SIGKILL)",
    "fork server killed": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
    "import time; time.sleep(5)",
    "memory": "x = bytearray(10 ** 16)",
    "limit of the processor": "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n"
    "while True: pass",
    "deep recursion": "def f(n): return f(n + 1) + 1\nf(0)",
    "deep recursion in C": "import functools, sys\nsys.setrecursionlimit(10 ** 6)\n"
    "x = []\nfor i in range(10 ** 5): x = [x]\nrepr(x)",
    "own folder removed": "import os, shutil\nshutil.rmtree(os.getcwd())\nraise ValueError('x')",
    "exit function": "import atexit, os\natexit.register(os._exit, 7)",
    "excepthook": "import sys\nsys.excepthook = None\nraise ValueError('x')",
    "interrupt": "raise KeyboardInterrupt",
    "BaseException": "class E(BaseException): pass\nraise E('x')",
    "modules emptied": "import sys\nsys.modules.clear()\nraise ValueError('x')",
    "fatal error": "import ctypes\nctypes.pythonapi.Py_FatalError(b'words')",
}
STUCK = {
    "while True": "while True: pass",
    "sleep": "import time\ntime.sleep(1000)",
    "a large sum": "sum(range(10 ** 13))",
    "a large power": "x = 9 ** (9 ** 9)",
    "interrupts ignored": "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass",
    "interrupts caught": "while True:\n    try:\n        while True: pass\n"
    "    except BaseException: pass",
    "terminate ignored": "import signal\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n"
    "while True: pass",
    "a lock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "a queue": "import queue\nqueue.Queue().get()",
    "a socket": "import socket\na, b = socket.socketpair()\na.recv(1)",
    "a pipe": "import os\nr, w = os.pipe()\nos.read(r, 1)",
    "a child": "import subprocess\nsubprocess.run(['sleep', '1000'])",
    "a thread": "import threading, time\n"
    "t = threading.Thread(target=time.sleep, args=(1000,)); t.start(); t.join()",
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "C": "import ctypes\nctypes.CDLL(None).pause()",
    "stopped": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "a flood": "while True: print('x' * 100)",
    "a loop of ops": "x = tf.Variable(1.0)\nwhile True: x.assign_add(1.0)",
    "a compiled loop": "@tf.function\ndef f(x):\n    while x > 0: x += 1.0\n    return x\n"
    "f(tf.constant(1.0))",
    "exit functions": "import atexit, time\natexit.register(time.sleep, 1000)",
}
AT_MOST = 3.0
WORDS = "print('next')"


class FirstWords(Listener):
    """Knows when the snippet has begun."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def printed(self, stream: str, text: str) -> None:
        self.begun.set()


def is_explained(recorder: Recorder, source: str) -> bool:
    live = recorder.record(Snippet(source, "death.py"), Listener())
    try:
        trace = live.wait(60)
    finally:
        live.stop()
        live.release()
    ending = trace.ending
    return bool(trace.failure or ending.how == "finished" or (ending.how and ending.detail))


def next_run_works(recorder: Recorder) -> bool:
    live = recorder.record(Snippet(WORDS, "next.py"), Listener())
    try:
        return ("stdout", "next\n") in live.wait(120).printed
    finally:
        live.release()


def deaths(recorder: Recorder, names: list[str]) -> None:
    chosen = names or list(DEATHS)[:: 10 if TINY else 1]
    times = 5 if LONG else 1
    failures = []
    for name in chosen * times:
        try:
            is_well = is_explained(recorder, DEATHS[name]) and next_run_works(recorder)
        except Exception as error:
            print_detail(f"{name}: {type(error).__name__}: {error}")
            is_well = False
        if not is_well:
            failures.append(name)
    worst = ", ".join(dict.fromkeys(failures)) or "all explained"
    print_row("kernel deaths, and the run after", len(chosen) * times, len(failures), worst)


def stuck(recorder: Recorder, names: list[str]) -> None:
    chosen = names or list(STUCK)[:: 10 if TINY else 1]
    failures, longest, slowest = [], 0.0, ""
    for name in chosen:
        heard = FirstWords()
        source = f"print('go', flush=True)\n{STUCK[name]}"
        live = recorder.record(Snippet(source, "stuck.py"), heard)
        heard.begun.wait(60)
        time.sleep(0.5)
        began = time.monotonic()
        live.stop()
        try:
            live.wait(30)
        except TimeoutError:
            print_detail(f"{name}: not stopped within 30 s")
        took = time.monotonic() - began
        live.release()
        if took > AT_MOST:
            failures.append(name)
            print_detail(f"{name}: {took:.1f} s")
        if took > longest:
            longest, slowest = took, name
    print_row("stuck programs × Stop", len(chosen), len(failures), f"{longest:.1f} s ({slowest})")


def main(words: list[str]) -> None:
    parts = {"deaths": deaths, "stuck": stuck}
    chosen = [word for word in words if word in parts] or list(parts)
    names = [word for word in words if word not in parts]
    with KernelPool(own_interpreter()) as pool:
        pool.warm()
        for part in chosen:
            parts[part](Recorder(pool), names)


if __name__ == "__main__":
    main(sys.argv[1:])
