"""Each writer, into each kind of place that is no plain file or has no room."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.errors import TapevizError
from tapeviz.export import WRITERS, write_picture
from tapeviz.files.source import encoded
from tapeviz.files.whole import write_whole
from tapeviz.trace.stored.file import load, save
from tests.export.drawn import drawing
from tests.pipes import written_to_a_pipe
from tests.soak.figures import SEED, count, print_detail, print_row

Write = Callable[[Path], None]
TAPE = Path(__file__).parents[1] / "recordings" / "training_loop.tape"
NAMES = ("two\nlines", "ö ∂ 漢", "-o", " ", "a" * 250, os.fsdecode(b"\xff\xfe"), "x;rm -rf", "%s")
OLD = b"old" * 100
ENDS_WITHIN = 20.0  # seconds


def writers() -> dict[str, Write]:
    picture, recording = drawing(), load(TAPE)
    found: dict[str, Write] = {
        suffix: lambda path, suffix=suffix: write_picture(picture, path, suffix)
        for suffix in WRITERS
    }
    found["tape"] = lambda path: save(recording, path)
    found["py"] = lambda path: write_whole(path, encoded("x = 1\n" * 1000))
    return found


def link(write: Write, folder: Path) -> bool:
    real, name = folder / "real", folder / "link"
    real.write_bytes(OLD)
    real.chmod(0o640)
    name.symlink_to("real")
    write(name)
    is_kept = name.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    return is_kept and real.read_bytes() != OLD


def hard_link(write: Write, folder: Path) -> bool:
    (folder / "a").write_bytes(OLD)
    os.link(folder / "a", folder / "b")
    write(folder / "a")
    return (folder / "b").read_bytes() != OLD and (folder / "a").samefile(folder / "b")


def pipe(write: Write, folder: Path) -> bool:
    path = folder / "pipe"
    os.mkfifo(path)
    got = written_to_a_pipe(path, lambda: write(path))
    return bool(got) and stat.S_ISFIFO(path.stat().st_mode)


def odd_names(write: Write, folder: Path) -> bool:
    for name in NAMES:
        write(folder / name)
    return set(os.listdir(folder)) == set(NAMES)


def refused(path: Path, write: Write) -> bool:
    """Whether it is told in one sentence."""
    try:
        write(path)
    except TapevizError as error:
        return "\n" not in str(error).replace(str(path), "") and len(str(error)) > 20
    return False


def no_room(write: Write, folder: Path) -> bool:
    """A limit to the size of files stands for a disk that is full."""
    path = folder / "a"
    path.write_bytes(OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        is_refused = refused(path, write)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    return is_refused and path.read_bytes() == OLD and os.listdir(folder) == ["a"]


def full_device(write: Write, folder: Path) -> bool:
    return refused(Path("/dev/full"), write) and stat.S_ISCHR(os.stat("/dev/full").st_mode)


def bad_places(write: Write, folder: Path) -> bool:
    (folder / "folder").mkdir()
    (folder / "file").write_bytes(OLD)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    names = ("folder", "no/such", "file/x", "loop", "pipe", "x" * 300)
    return all(refused(folder / name, write) for name in names) and len(os.listdir(folder)) == 4


def read_only(write: Write, folder: Path) -> bool:
    if os.geteuid() == 0:
        return True  # root may write anywhere
    (folder / "a").write_bytes(OLD)
    (folder / "a").chmod(0o400)
    return refused(folder / "a", write) and (folder / "a").read_bytes() == OLD


PLACES = (link, hard_link, pipe, odd_names, no_room, full_device, bad_places, read_only)


def interrupted(name: str, number: int, random: Random) -> bool:
    """A process that writes again and again is ended: the file is whole, and alone."""
    program = (
        "import signal, sys; from pathlib import Path\n"
        "from tests.soak.soak_writers import writers\n"
        # A shell's background jobs ignore SIGINT, and hand that on.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"write = writers()[{name!r}]\n"
        "print('go', flush=True)\n"
        "while True: write(Path(sys.argv[1]))\n"
    )
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        path = Path(folder) / f"a.{name}"
        words = [sys.executable, "-c", program, str(path)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0.0, 0.3))
            process.send_signal(random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
            try:
                process.wait(ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                return False
        if os.listdir(folder) not in ([path.name], []):
            return False
        if name == "tape" and path.exists():
            load(path)
        return not path.exists() or path.stat().st_size > 100


def main() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    failures: list[str] = []
    tried = 0
    for name, write in writers().items():
        for place in PLACES:
            with tempfile.TemporaryDirectory(prefix="soak-") as folder:
                tried += 1
                try:
                    is_well = place(write, Path(folder))
                except Exception as error:
                    is_well = False
                    print_detail(f"{name}, {place.__name__}: {type(error).__name__}: {error}")
                if not is_well:
                    failures.append(f"{name}: {place.__name__}")
    print_row(
        "writers × links, pipes, full, odd places", tried, len(failures), "; ".join(failures[:3])
    )
    kinds, torn = ("tape", "svg", "py"), 0
    tried = count(90, 9)
    for number in range(tried):
        kind = kinds[number % len(kinds)]
        if not interrupted(kind, number, Random(f"{SEED}-{number}")):
            torn += 1
            print_detail(f"{kind}: torn, something left, or the signal ignored")
    print_row(
        "writers, ended while they write",
        tried,
        torn,
        "-" if not torn else "torn, left over, or no end",
    )


if __name__ == "__main__":
    main()
