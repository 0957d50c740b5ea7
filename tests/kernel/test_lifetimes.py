"""Pools from start to end: nothing stays behind, whoever ends first."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapeviz.errors import TapevizError
from tapeviz.kernel import (
    Confinement,
    KernelChoice,
    KernelPool,
    PoolStatus,
    Run,
    RunRequest,
    choose_kernel,
    own_interpreter,
)
from tapeviz.kernel import pool as pool_module
from tapeviz.kernel.confinement import without_network
from tapeviz.kernel.fork_server import ForkedKernel, ForkServerProcess
from tapeviz.kernel.live_kernel import LiveKernel
from tapeviz.kernel.scratch import Scratch
from tapeviz.kernel.supply import Supply
from tests.waiting import PATIENCE, wait_until

from .conftest import FAKE_RECORDER, Heard
from .test_choices import bare, spec  # noqa: F401 (fixtures)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at /proc and signals")

CHILD = (
    "import os, subprocess\n"
    "child = subprocess.Popen(['sleep', '300'])\n"
    "emit(kind='pids', pids=[os.getpid(), os.getppid(), child.pid])\n"
)


@pytest.fixture(autouse=True)
def light_tensorflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A TensorFlow that is imported in no time: these tests are about processes."""
    place = tmp_path / "light"
    (place / "keras" / "_tf_keras").mkdir(parents=True)
    (place / "keras" / "__init__.py").touch()
    (place / "tensorflow.py").write_text("__version__ = '2.20.0'\n")
    monkeypatch.setenv("PYTHONPATH", str(place))


@pytest.fixture
def make_pool() -> Iterator[Callable[..., KernelPool]]:
    with contextlib.ExitStack() as stack:

        def make(choice: KernelChoice | None = None, **options) -> KernelPool:
            pool = KernelPool(choice or own_interpreter(), recorder=FAKE_RECORDER, **options)
            return stack.enter_context(pool)

        yield make


def play(pool: KernelPool, source: str, **request) -> Heard:
    heard = Heard()
    heard.run = pool.run(RunRequest(source, **request), heard)
    heard.run.wait(PATIENCE)
    return heard


def begin(pool: KernelPool, source: str) -> Heard:
    heard = Heard()
    heard.run = pool.run(RunRequest(source), heard)
    wait_until(lambda: heard.events_of("pids"))
    return heard


def only(pool: KernelPool) -> Supply:
    (supply,) = pool._supplies.values()
    return supply


def is_alive(pid: int) -> bool:
    """Whether ``pid`` runs; a zombie that nobody collects here does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _open_descriptors() -> list[str]:
    return [fd for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")]


@pytest.mark.parametrize("way", ["fork", "launch"])
def test_closing_leaves_nothing(make_pool, spec, way):  # noqa: F811
    with make_pool() as first:  # what a first use leaves in caches is not counted
        play(first, "pass")
    counts, threads = [], []
    for _ in range(3):
        before = set(threading.enumerate())
        pool = KernelPool(
            choose_kernel(spec) if way == "launch" else own_interpreter(), recorder=FAKE_RECORDER
        )
        check_is_closed(pool, way)
        threads.append(lasting_threads(before))
        counts.append(len(_open_descriptors()))
    # Pools of other tests may open some meanwhile; one that leaks does so each time.
    assert not counts[0] < counts[1] < counts[2], counts
    assert not all(threads), threads


def lasting_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    """Those that began since then and do not end."""
    until = time.monotonic() + PATIENCE / 3
    while (left := set(threading.enumerate()) - before) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def check_is_closed(pool: KernelPool, way: str) -> None:
    """Use a pool, close it in the middle of a run, and look for its processes and folders."""
    ended = play(pool, "kept = 1")
    running = begin(pool, CHILD + "import time; time.sleep(300)")
    folders = only(pool)._scratch.folders
    pids = running.events_of("pids")[0]["pids"]
    if way == "launch":
        pids.remove(os.getpid())
    assert all(map(is_alive, pids))
    pool.close()
    assert running.end.reason == "interrupted"
    assert ended.end.reason == "finished"
    wait_until(lambda: not any(map(is_alive, pids)))
    assert not any(folder.exists() for folder in folders)
    pool.close()  # a second time does nothing


def test_a_resting_pool_keeps_its_runs_and_no_others(make_pool):
    pool = make_pool()
    assert not pool.is_in_use
    running = begin(pool, CHILD + "import time; time.sleep(300)")
    assert pool.is_in_use
    wait_until(lambda: only(pool)._ready)  # the reserve
    pool.rest()
    wait_until(lambda: len(only(pool)._kernels) == 1)
    assert not only(pool)._ready
    assert all(map(is_alive, running.events_of("pids")[0]["pids"]))
    running.run.stop()
    assert running.run.wait(PATIENCE).reason == "interrupted"


def test_closing_while_tensorflow_is_imported(make_pool, tmp_path):
    (tmp_path / "light" / "tensorflow.py").write_text("import time; time.sleep(10**6)")
    pool = make_pool()
    pool.warm()
    wait_until(lambda: only(pool)._fork_server)
    process = only(pool)._fork_server._process
    pool.close()
    assert process.returncode == -signal.SIGKILL  # it does not wait for the import


@pytest.mark.parametrize(
    "ending",
    [
        "sum(range(10**12))",
        "import time; time.sleep(300)",
        "import signal, time; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(300)",
    ],
)
def test_when_we_are_killed_all_goes(ending, tmp_path):
    """Our process, killed without a word: fork server, kernel and the snippet's child go, too, and
    a file that AutoGraph wrote for the snippet."""
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tapeviz.kernel import KernelPool, RunRequest, own_interpreter\n"
        "class Listener:\n"
        "    def events(self, batch, blob): print(batch[0].decode(), flush=True)\n"
        "    def output(self, stream, text): pass\n"
        "    def ended(self, end): print(end, flush=True)\n"
        f"pool = KernelPool(own_interpreter(), recorder=Path({str(FAKE_RECORDER)!r}))\n"
        f"pool.run(RunRequest({CHILD + ending!r}), Listener())\n"
        "print(*pool._current._scratch.folders, flush=True)\n"
        "time.sleep(300)\n"
    )
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([os.environ["PYTHONPATH"], root])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        text=True,
    ) as process:
        folders = process.stdout.readline().split()
        assert "begun" in process.stdout.readline()
        pids = __import__("json").loads(process.stdout.readline())["pids"]
        assert len(folders) == 2
        assert all(map(is_alive, pids))
        generated = tmp_path / "__autograph_generated_file_x.py"
        bytecode = tmp_path / "__pycache__" / "__autograph_generated_file_x.pyc"
        bytecode.parent.mkdir(exist_ok=True)
        for file in (generated, bytecode):
            file.touch()
            (Path(folders[1], "g1") / file.name).symlink_to(file)
        process.kill()
    wait_until(lambda: not any(map(is_alive, pids)))
    wait_until(lambda: not any(map(os.path.exists, folders)))
    assert not generated.exists()
    assert not bytecode.parent.exists()


@pytest.mark.parametrize("can_fork", [True, False])
def test_when_we_are_killed_while_tensorflow_is_imported_all_goes(can_fork, tmp_path):
    """Also while the import holds the interpreter's lock, as the loading of a library does."""
    importing = tmp_path / "pid"
    (tmp_path / "light" / "tensorflow.py").write_text(
        "import ctypes, os\n"
        f"with open({str(importing)!r}, 'a') as file: file.write(f'{{os.getpid()}}\\n')\n"
        "ctypes.PyDLL(None).sleep(300)\n"
    )
    program = (
        "import time\n"
        "from tapeviz.kernel import KernelPool, own_interpreter, supply\n"
        f"supply.CAN_FORK = {can_fork}\n"
        "pool = KernelPool(own_interpreter())\n"
        "pool.warm()\n"
        "print(*pool._current._scratch.folders, flush=True)\n"
        "time.sleep(300)\n"
    )
    path = os.pathsep.join([os.environ["PYTHONPATH"], str(Path(__file__).parents[2])])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        text=True,
    ) as process:
        folders = process.stdout.readline().split()
        wait_until(lambda: importing.exists() and importing.read_text().endswith("\n"))
        pids = [int(pid) for pid in importing.read_text().split()]
        process.kill()
    wait_until(lambda: not any(map(is_alive, pids)))
    wait_until(lambda: not any(map(os.path.exists, folders)))


def test_a_killed_fork_server_is_replaced(make_pool):
    pool = make_pool()
    running = begin(pool, CHILD + "import time; time.sleep(300)")
    kernel, fork_server, child = running.events_of("pids")[0]["pids"]
    os.kill(fork_server, signal.SIGKILL)
    assert running.run.wait(PATIENCE).reason == "died"
    assert play(pool, "print('again')").text() == "again\n"
    wait_until(lambda: not is_alive(kernel) and not is_alive(child))


def test_a_fork_server_that_a_snippet_stopped_is_replaced(make_pool, monkeypatch):
    monkeypatch.setattr("tapeviz.kernel.fork_server._FORKS_WITHIN", 1.0)
    pool = make_pool(reserve=0)
    stopping = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); print('stopped')"
    assert play(pool, stopping).text() == "stopped\n"
    assert play(pool, "print('again')").text() == "again\n"


def test_a_reserve_kernel_that_a_snippet_stopped_is_replaced(make_pool, monkeypatch):
    monkeypatch.setattr("tapeviz.kernel.live_kernel._BEGINS_WITHIN", 1.0)
    pool = make_pool()
    pool.warm()
    wait_until(lambda: only(pool)._ready)
    os.kill(only(pool)._ready[0].pid, signal.SIGSTOP)
    assert play(pool, "print('again')").text() == "again\n"


def test_a_run_right_after_the_fork_server_was_killed_runs(make_pool):
    """Its kernels live on until the memory of the killed process has been given back."""
    pool = make_pool(reserve=2)
    pool.warm()
    for milliseconds in (0, 10):
        wait_until(lambda: pool._supplies and len(only(pool)._ready) == 2)
        os.kill(only(pool)._fork_server.pid, signal.SIGKILL)
        time.sleep(milliseconds / 1000)
        heard = play(pool, "import time; time.sleep(0.3); print('here')")
        assert (heard.end.reason, heard.text()) == ("finished", "here\n")


def test_a_run_that_is_stopped_while_its_kernel_ends_is_not_run_elsewhere(make_pool, monkeypatch):
    runs: queue.SimpleQueue[Run] = queue.SimpleQueue()

    def end_meanwhile(kernel):
        runs.get(timeout=PATIENCE).stop()
        os.kill(kernel.pid, signal.SIGKILL)
        return False

    monkeypatch.setattr(ForkedKernel, "is_sure_to_live", end_meanwhile)
    pool = make_pool()
    pool.warm()
    wait_until(lambda: pool._supplies and only(pool)._ready)
    run = pool.run(RunRequest("print('here')"), heard := Heard())
    runs.put(run)
    assert run.wait(PATIENCE).reason == "interrupted"
    assert heard.text() == ""


def test_a_kernel_that_was_killed_before_the_snippet_began_is_replaced(make_pool, monkeypatch):
    """A reserve that the system killed; a process that dies twice is told, not tried for ever."""
    begin_run = LiveKernel._begin
    killed: list[int] = []

    def begin_in_killed(kernel, run):
        if len(killed) < most:
            killed.append(kernel.pid)
            os.kill(kernel.pid, signal.SIGSTOP)  # it does not come to reading its order
            begin_run(kernel, run)
            os.kill(kernel.pid, signal.SIGKILL)
        else:
            begin_run(kernel, run)

    monkeypatch.setattr(LiveKernel, "_begin", begin_in_killed)
    pool = make_pool()
    most = 1
    assert play(pool, "print('here')").text() == "here\n"
    assert len(killed) == 1
    killed.clear()
    most = 2
    assert play(pool, "print('here')").end.reason == "died"
    assert play(pool, "print('again')").text() == "again\n"


def test_a_folder_that_was_removed_is_made_anew(make_pool):
    statuses: list[PoolStatus] = []
    pool = make_pool(on_status=statuses.append)
    play(pool, "pass")
    wait_until(lambda: only(pool)._ready)
    for folder in only(pool)._scratch.folders:
        shutil.rmtree(folder)
    for _ in range(3):  # the one that waited, and those that are made afterwards
        assert play(pool, "import os; print(os.listdir())").text() == "[]\n"
    assert any("made anew" in status.detail for status in statuses)


def test_a_kernel_has_no_tcp_port(make_pool):
    source = (
        "import os\n"
        "mine = {os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')\n"
        "        if os.path.lexists(f'/proc/self/fd/{fd}')}\n"
        "rows = [row.split() for row in open('/proc/self/net/tcp')]\n"
        "print([row[1] for row in rows if row[3] == '0A' and f'socket:[{row[9]}]' in mine])\n"
    )
    assert play(make_pool(), source).text() == "[]\n"


def test_where_forking_fails_kernels_are_launched(make_pool, monkeypatch):
    def broken(self, files, on_exit):
        raise TapevizError("no fork today")

    monkeypatch.setattr(ForkServerProcess, "fork", broken)
    pool = make_pool()
    heard = play(pool, "import sys; print('launched', '_tapeviz_fork_server' in sys.modules)")
    assert heard.text() == "launched False\n"


def test_without_descriptors_a_run_fails_in_words(make_pool, monkeypatch):
    def broken(*args, **options):
        raise OSError(errno.EMFILE, "Too many open files")

    for name in ("_fork", "_launch"):
        monkeypatch.setattr(Supply, name, broken)
    monkeypatch.setattr(Path, "glob", broken)
    end = play(make_pool(), "pass").end
    assert end.reason == "failed"
    assert end.detail.endswith("Too many open files")


def test_a_kernelspec(make_pool, spec):  # noqa: F811
    pool = make_pool(choose_kernel(spec))
    heard = play(pool, "import os\nprint('a')\nos.system('echo b')\nprint('c')\nx = b'1'")
    assert heard.text() == "a\nb\nc\n"
    assert heard.run.fetch("value", {"name": "x"})[1] == [b"1"]
    assert pool.status.versions.tensorflow == "2.20.0"
    died = play(pool, "import ctypes\nctypes.string_at(0)").end
    assert (died.reason, died.signal, died.line) == ("died", 11, 2)
    aborted = play(pool, "import os; emit(kind='said'); os.abort()", options={"hold": True})
    assert aborted.kinds == ["begun", "said"]
    assert aborted.end.signal == 6
    stuck = play(pool, "x = 1\nsum(range(10**12))", timeout=0.3).end
    assert (stuck.reason, stuck.line) == ("timeout", 2)


def test_a_kernel_without_tensorflow_fails_in_words(make_pool, spec, tmp_path):  # noqa: F811
    (tmp_path / "light" / "tensorflow.py").write_text("raise ImportError('broken libfoo')")
    heard = play(make_pool(choose_kernel(spec)), "pass")
    assert heard.end.reason == "failed"
    assert "broken libfoo" in heard.end.detail
    own = play(make_pool(), "pass")
    assert own.end.reason == "failed"
    assert "cannot load TensorFlow: ImportError: broken libfoo" in own.end.detail


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SIGKILL", "was ended by signal 9 (SIGKILL), as happens when memory runs out"),
        ("SIGILL", "was ended by signal 4 (SIGILL). It wrote: noise"),
    ],
)
def test_a_process_that_is_killed_while_it_starts_is_no_fault_of_tensorflow(
    make_pool,
    spec,  # noqa: F811
    tmp_path,
    name,
    words,
):
    (tmp_path / "light" / "tensorflow.py").write_text(
        f"import os, signal, sys\nprint('noise', file=sys.stderr, flush=True)\n"
        f"os.kill(os.getpid(), signal.{name})"
    )
    detail = play(make_pool(), "pass").end.detail
    assert words in detail
    assert ("noise" in detail) == (name == "SIGILL")


def test_a_mended_environment_works_at_the_next_run(make_pool, tmp_path):
    statuses: list[PoolStatus] = []
    pool = make_pool(on_status=statuses.append)
    module = tmp_path / "light" / "tensorflow.py"
    module.write_text("raise ImportError('broken')")
    assert play(pool, "pass").end.reason == "failed"
    assert [status.state for status in statuses] == ["starting", "failed"]
    module.write_text("__version__ = '2.20.0'")
    assert play(pool, "pass").end.reason == "finished"
    assert statuses[-1].state == "ready"
    assert statuses[-1].versions.tensorflow == "2.20.0"


def test_an_incomplete_interpreter_fails_in_words(make_pool, bare, monkeypatch):  # noqa: F811
    monkeypatch.delenv("PYTHONPATH")
    heard = play(make_pool(KernelChoice("bare", python=bare)), "pass")
    assert heard.end.reason == "failed"
    assert "has no TensorFlow and ipykernel" in heard.end.detail


def test_a_run_that_waits_can_be_stopped(make_pool):
    pool = make_pool()
    heard = Heard()
    run = pool.run(RunRequest("print(1)"), heard)
    run.stop()
    assert run.wait(PATIENCE).reason == "interrupted"
    assert heard.calls == ["ended"]
    assert play(pool, "print(2)").text() == "2\n"


def test_no_kernel_is_made_beyond_the_announced_runs(make_pool, monkeypatch):
    monkeypatch.setattr(pool_module, "_REFILL_AFTER", 0.0)
    pool = make_pool(runs=1)
    assert play(pool, "print(1)").text() == "1\n"
    time.sleep(0.3)
    assert len(only(pool)._kernels) == 1
    assert play(pool, "print(2)").text() == "2\n", "a run more than announced gets one all the same"


def test_two_runs_at_once(make_pool):
    pool = make_pool()
    source = "import time; print('in'); time.sleep(0.5)"
    heards = [Heard(), Heard()]
    runs = [pool.run(RunRequest(source), heard) for heard in heards]
    assert [run.wait(PATIENCE).reason for run in runs] == ["finished"] * 2
    assert runs[0].id != runs[1].id


def test_socket_paths_stay_short(monkeypatch, tmp_path):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    scratch = Scratch()
    try:
        files = scratch.kernel_files()
        assert len(f"{files.address}-5") < 104
        assert scratch.sockets.stat().st_mode & 0o777 == 0o700
        assert list(files.folder.iterdir()) == []
    finally:
        scratch.remove()


def test_the_connection_file_is_private(make_pool):
    pool = make_pool()
    running = begin(pool, CHILD + "import time; time.sleep(300)")
    files = list(only(pool)._scratch.sockets.glob("*.json"))
    assert files
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    running.run.release()


def test_a_supply_that_failed_with_its_fork_server_alive_starts_again(make_pool):
    pool = make_pool()
    play(pool, "pass")
    only(pool)._fail("its kernels did not come up")
    assert play(pool, "print('well')").text() == "well\n"


def test_a_reserve_kernel_that_died_unnoticed_is_passed_over(make_pool):
    pool = make_pool()
    pool.warm()
    for _ in range(5):
        wait_until(lambda: only(pool)._ready)
        os.kill(only(pool)._ready[0].pid, signal.SIGKILL)
        heard = play(pool, "print('well')")
        # It may die before or after it was given the run; the run is not lost either way.
        assert heard.text() == "well\n" or heard.end.reason == "died"
        heard.run.release()


def test_settings_for_the_import_are_there_in_time(make_pool, tmp_path):
    """A module that reads them when it is imported, as TensorFlow does."""
    (tmp_path / "light" / "tensorflow.py").write_text(
        "import os\n__version__ = '2.20.0'\nfound = os.environ.get('TF_ENABLE_ONEDNN_OPTS')\n"
    )
    pool = make_pool()
    see = "import os\n{}import tensorflow as tf\nprint(tf.found)"
    off = see.format("os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'\n")
    assert play(pool, see.format("")).text() == "None\n"
    assert play(pool, off).text() == "0\n"
    kept = play(pool, off + "\nx = b'1'")
    assert play(pool, see.format("")).text() == "None\n"
    assert kept.run.fetch("value", {"name": "x"})[1] == [b"1"]
    assert len(pool._supplies) == 2
    folders = next(iter(pool._supplies.values()))._scratch.folders
    assert play(pool, see.format("os.environ['KERAS_BACKEND'] = 'jax'\n")).text() == "None\n"
    assert len(pool._supplies) == 2
    wait_until(lambda: not any(folder.exists() for folder in folders))


def test_processes_that_nobody_releases_do_not_pile_up(make_pool, monkeypatch):
    monkeypatch.setattr(pool_module, "_MOST_KEPT", 1)
    pool = make_pool()
    first, second, third = (play(pool, "import os; pid = os.getpid()") for _ in range(3))
    assert third.run.fetch("value", {"name": "pid"})
    assert second.run.fetch("value", {"name": "pid"})
    with pytest.raises(TapevizError, match="has ended"):
        first.run.fetch("value", {"name": "pid"})


def test_without_a_network_nothing_can_be_reached(make_pool):
    try:
        without_network(own_interpreter())
    except TapevizError as error:
        pytest.skip(str(error))
    source = (
        "import socket\n"
        "with socket.socket() as server:\n"
        "    server.bind(('127.0.0.1', 0)); server.listen()\n"
        "    print(len(socket.if_nameindex()))\n"
        "    try: socket.create_connection(server.getsockname(), timeout=2)\n"
        "    except OSError as error: print(type(error).__name__)\n"
    )
    pool = make_pool(confinement=Confinement(no_network=True))
    assert play(pool, source).text() == "1\nOSError\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc and RLIMIT_DATA")
def test_an_allocation_beyond_the_limit_fails(make_pool):
    source = (
        "kept = bytearray(100_000_000)\n"
        "try: bytearray(1_000_000_000)\n"
        "except MemoryError: print('no')\n"
    )
    assert play(make_pool(confinement=Confinement(memory=0.5)), source).text() == "no\n"
    assert play(make_pool(), source).text() == ""
