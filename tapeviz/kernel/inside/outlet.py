"""Send what is written to standard output and error as messages, in the same order.

The output of ``print``, C code and subprocesses ends here: descriptors 1 and 2 are pipes, which are
emptied before each write by Python, so that all output keeps its order.
"""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from io import FileIO, TextIOWrapper
from itertools import groupby
from os import close, dup2, fstat, getpid, pipe, read
from os import write as write_bytes
from sys import maxsize
from threading import Event, RLock, Thread, get_ident
from time import sleep
from typing import Any

if sys.platform != "win32":  # which has none of these, and pipes are not captured there
    from os import set_blocking
    from select import POLLIN
    from select import poll as new_poll

from .budget import OutputBudget
from .waiting import WaitingAllowance

STREAMS = {"stdout": 1, "stderr": 2}
_CHUNK = 65536
_PAUSE = 0.05


class Outlet:
    """Collects both streams and calls ``publish`` with (stream, text) pairs in order.
    Bytes that are no UTF-8 are lone surrogates in the text (PEP 383).

    ``settle()``: wait until everything published has left Python. ``prepare()`` is called before
    a line is published at once.
    """

    def __init__(
        self,
        publish: Callable[[list[tuple[str, str]]], None],
        settle: Callable[[], None],
        prepare: Callable[[], None],
    ) -> None:
        self._publish = publish
        self._settle = settle
        self._prepare = prepare
        self.pid = getpid()
        self._lock = RLock()
        self._pending: list[tuple[str, str]] = []
        self._wake = Event()
        self._pipes: dict[int, str] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._poll: Any = None
        self._may_publish: Callable[[], bool] = lambda: True
        self.open_budgets()
        Thread(target=self._flush_soon, name="tapeviz-output", daemon=True).start()

    def open_budgets(self, *, is_limited: bool = True) -> None:
        """Begin a run: count its output from zero; without limits all of it is published."""
        decoder = getincrementaldecoder("utf-8")
        limits = {} if is_limited else {"head": maxsize, "line": maxsize}
        self._budgets = {name: OutputBudget(**limits) for name in STREAMS}
        self._decoders = {name: decoder(errors="surrogateescape") for name in STREAMS}
        self._allowance = WaitingAllowance()

    def capture(self, pipes: Mapping[str, int]) -> None:
        """Read ``pipes`` (stream name → reading end), too, from now on."""
        self._pipes = {descriptor: name for name, descriptor in pipes.items()}
        self._places = {name: _place_of(STREAMS[name]) for name in pipes}
        self._poll = _poll_of(self._pipes)
        for descriptor in self._pipes:
            set_blocking(descriptor, False)
        Thread(target=self._watch, name="tapeviz-capture", daemon=True).start()

    @contextmanager
    def holding_without(self, condition: Callable[[], bool]) -> Iterator[None]:
        """Hold output back while ``condition()`` is False, for the time of the ``with``."""
        self._may_publish = condition
        try:
            yield
        finally:
            self._may_publish = lambda: True

    def write(self, name: str, data: bytes) -> None:
        """Take ``data``, written to stream ``name`` now."""
        # A child that the snippet forked has none of our threads.
        if getpid() != self.pid or self._is_moved(name):
            write_bytes(STREAMS[name], data)
            return
        with self._lock:
            if self._poll is not None:
                self._drain()
            self._append(name, data)
        if not self._pending or not self._may_publish():
            return  # beyond the budget, or to be published at the end
        try:
            if b"\n" in data and self._allowance.is_left():
                self._allowance.spend(self._publish_line)
            else:
                self._wake.set()
        except Exception:  # the snippet broke what sends; published at the end
            self._may_publish = _never

    def _publish_line(self) -> None:
        self._prepare()
        self.flush()

    def _is_moved(self, name: str) -> bool:
        """Whether the snippet made the descriptor lead elsewhere (``os.dup2``), or closed it."""
        if name not in self._places:
            return False
        try:
            return _place_of(STREAMS[name]) != self._places[name]
        except OSError:
            return True

    def is_spent(self, name: str) -> bool:
        """Whether the stream's budget is spent, so that nothing is published before the end."""
        return self._budgets[name].is_spent

    def flush(self) -> None:
        """Publish everything written so far, and wait until it has left Python."""
        if not self._may_publish():
            return
        with self._lock:
            if self._poll is not None:
                self._drain()
            self._publish_pending()
        self._settle()

    def close_budgets(self) -> None:
        """End a run: publish the tails that were kept back."""
        _flush_c_library()
        with self._lock:
            if self._poll is not None:
                self._drain()
            for name, budget in self._budgets.items():
                self._add(name, budget.feed(self._decoders[name].decode(b"", final=True)))
                self._add(name, budget.close())
        self.flush()

    def _append(self, name: str, data: bytes) -> None:
        self._add(name, self._budgets[name].feed(self._decoders[name].decode(data)))

    def _add(self, name: str, text: str) -> None:
        if text:
            self._pending.append((name, text))

    def _drain(self) -> None:
        # Limited: a subprocess that never stops writing must not block the snippet.
        for _ in range(16):
            ready = self._poll.poll(0)
            if not any(self._read(descriptor) for descriptor, _ in ready):
                return

    def _read(self, descriptor: int) -> bool:
        try:
            data = read(descriptor, _CHUNK)
        except OSError:
            return False
        if data:
            self._append(self._pipes[descriptor], data)
        return bool(data)

    def _publish_pending(self) -> None:
        runs = groupby(self._pending, key=lambda piece: piece[0])
        pieces = [(name, "".join(text for _, text in run)) for name, run in runs]
        if pieces:
            self._publish(pieces)
        self._pending = []

    def _flush_soon(self) -> None:
        while True:
            self._wake.wait()
            sleep(_PAUSE)
            self._wake.clear()
            try:
                with self._lock:
                    if self._may_publish():
                        self._publish_pending()
            except Exception:  # as in write()
                self._may_publish = _never

    def _watch(self) -> None:
        while True:
            self._poll_forever()
            with self._lock:
                self._drain()
            self._wake.set()
            sleep(0.002)  # let a burst gather

    def _poll_forever(self) -> None:
        # A second poll object: two threads cannot use the same one at once.
        _poll_of(self._pipes).poll()


class OutletFile(FileIO):
    """The raw file below ``sys.stdout`` or ``sys.stderr`` during a run.

    ``others``: ids of threads whose output is not the snippet's, and is dropped. The snippet sees
    the class that Python has there.
    """

    def __init__(self, outlet: Outlet, stream: str, others: Set[int]) -> None:
        super().__init__(STREAMS[stream], "w", closefd=False)
        self._outlet = outlet
        self._stream = stream
        self._others = others
        self.text: TextIOWrapper | None = None
        self.name = f"<{stream}>"

    def __repr__(self) -> str:  # Python 3.13 takes the class's name without its module
        if self.closed:
            return "<_io.FileIO [closed]>"
        return f"<_io.FileIO name={self.name!r} mode={self.mode!r} closefd={self.closefd}>"

    def write(self, data: Any, /) -> int:
        written = bytes(data)
        if get_ident() in self._others:
            return len(written)
        self._outlet.write(self._stream, written)
        if self.text is not None and self._outlet.is_spent(self._stream):
            # Output that is not shown may come in blocks, which cost a tenth.
            self.text.reconfigure(write_through=False)
            self.text = None
        return len(written)


OutletFile.__name__ = OutletFile.__qualname__ = FileIO.__name__
OutletFile.__module__ = FileIO.__module__


def text_file(outlet: Outlet, stream: str, others: Set[int]) -> TextIOWrapper:
    """A text stream as ``python -u`` opens it, which writes to ``outlet``."""
    errors = getattr(getattr(sys, f"__{stream}__"), "errors", None)  # by the user's locale
    raw: Any = OutletFile(outlet, stream, others)
    text = TextIOWrapper(raw, encoding="utf-8", errors=errors, newline="\n", write_through=True)
    setattr(text, "mode", "w")  # noqa: B010 (read-only for mypy alone)
    raw.text = text
    return text


def own_pipes() -> dict[str, int]:
    """Make descriptors 1 and 2 new pipes; returns their reading ends by stream name."""
    pipes = {}
    for name, descriptor in STREAMS.items():
        reading, writing = pipe()
        dup2(writing, descriptor)
        close(writing)
        pipes[name] = reading
    return pipes


def _never() -> bool:
    return False


def _place_of(descriptor: int) -> tuple[int, int]:
    """The device and inode of what a descriptor leads to."""
    about = fstat(descriptor)
    return about.st_dev, about.st_ino


def _poll_of(descriptors: Mapping[int, str]) -> Any:
    poll = new_poll()
    for descriptor in descriptors:
        poll.register(descriptor, POLLIN)
    return poll


def _flush_c_library() -> None:
    if sys.platform == "win32":
        return
    with suppress(Exception):  # printf() into a pipe waits in a buffer
        import ctypes

        ctypes.CDLL(None).fflush(None)
