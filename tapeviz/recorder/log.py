"""Encode the rows of hooks and send them as events, in order, every few hundredths of a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import getpid
from threading import Lock, RLock, Thread, local
from time import sleep
from traceback import format_exc
from typing import Any

from . import limits
from .encode import Encoder

Send = Callable[[list[str], bytes], None]

_PAUSE = 0.06
# Rows hold tensors. After so many elements in one go the next are looked for sooner, so that a
# backward pass finds the memory free again that it uses in turn. Not much sooner: each look begins
# with cold caches, beside kernels that use all cores (a row takes half as long again at 0.01).
_MANY_ELEMENTS, _SHORT_PAUSE = 1 << 20, 0.03
_BATCH = 4_000
_PATIENCE = 2.0


class ThreadState(local):
    """The state of a thread that each op on it is recorded with.

    ``state``: (gradient call it runs inside of, recording stopped, number of the thread), one
    tuple that is replaced as a whole, so that an op's row can hold it.
    """

    state: tuple[int, bool, int] = (0, False, 0)
    hidden: int = 0
    """Above 0: what runs now is not to be reported."""
    derives: bool = False
    """The graph of a function's backward pass is being made."""
    bodies: tuple[Any, ...] = ()
    seen_for: tuple[Any, tuple[int, bool, int]] | None = None
    """The tape for which ops of a thread of TensorFlow's are seen, with the ``state`` before."""
    running: tuple[bytes, Any] | None = None
    """The function that is about to run, and the copy that is to run in its place, if any is."""
    ran: tuple[Sequence[Any], Sequence[Any], bool] = ((), (), False)
    """The sources that it took from elsewhere, the bytes of the lists among these, and whether ops
    of this thread are reported."""


class Log:
    """Rows in the order in which things happened. Hooks append; one thread of ours sends.

    A row is ``(op_type, inputs, attrs, outputs, site, scope, state)`` for an op, ``(None, name,
    value, site)`` for a name that was given a tensor or a number, else ``(method of the encoder,
    its arguments …)``.
    Appending is atomic. Encoding and sending have their own thread, because a KeyboardInterrupt
    only ever breaks into the main one. ``at_once``: a row is encoded as it is appended, so that no
    tensor of the snippet is held any longer than that; it costs several times as much.
    """

    def __init__(self, encoder: Encoder, send: Send, at_once: bool = False) -> None:
        self.encoder = encoder
        self.rows: list[tuple[Any, ...]] = []
        self.append = self._append_at_once if at_once else self.rows.append
        self.local = ThreadState()
        self._send = send
        self._pid = getpid()
        self._lock = RLock()
        # Bare locks: an Event costs as much as the ops of a batch. This one is free: there is work.
        self._wake = Lock()
        self._wake.acquire()
        self._waiting: deque[Lock] = deque()
        self._closing = False
        self._delivers = False
        self._is_writing = False
        self._is_deaf = False
        self._kept = 0
        self._complaints: set[str] = set()
        self._unwritten: dict[str, None] = {}
        self._lines: list[str] = []
        self._blob: list[bytes] = []
        self._thread = Thread(target=self._work, name="tapeviz-recorder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Send what is left and end the thread."""
        self._closing, self._is_deaf = True, False
        self._wake_up()
        while self._thread.is_alive():
            with suppress(KeyboardInterrupt):  # the snippet is over already
                self._thread.join()

    def hear_again(self) -> bool:
        """Send again, as what the snippet broke is whole at its end, and say what was lost.
        Returns whether that is nothing that waited to be sent."""
        self.catch_up()
        is_whole = self._kept <= limits.UNSENT_BYTES
        if not is_whole:
            self._unwritten["recorder, the snippet broke what sends: later events are lost"] = None
        self._is_deaf, self._kept = False, 0
        self.say_losses()
        return is_whole

    def say_losses(self) -> None:
        """Say what could not be written of the rows so far, each once."""
        self.catch_up()
        for words in [*self._unwritten]:
            self.append((self.encoder.event, {"e": "note", "message": words}))
        self._unwritten.clear()

    def catch_up(self) -> None:
        """Wait until all rows are encoded, for a limited time."""
        # A thread of the snippet's that outlived it, or a process forked by it: nobody listens.
        if self._closing or getpid() != self._pid:
            self.rows.clear()
            return
        self._wait_for_thread()

    def deliver(self) -> None:
        """Let the thread send all rows, and wait for it, for a limited time: what the snippet
        prints next may be the last thing it does."""
        # Hidden: a finalizer prints while this thread encodes, with the lock that the other needs.
        is_mine = not self.local.hidden and getpid() == self._pid
        if is_mine and not self._closing and (self.rows or self._is_writing or self._lines):
            self._delivers = True
            self._wait_for_thread()

    def _wait_for_thread(self) -> None:
        is_done = Lock()
        is_done.acquire()
        self._waiting.append(is_done)
        self._wake_up()
        is_done.acquire(timeout=_PATIENCE)

    def _wake_up(self) -> None:
        with suppress(RuntimeError):  # it was woken already
            self._wake.release()

    def flush(self) -> None:
        """Send all that has been noticed so far, and come back when that is done."""
        if getpid() == self._pid:
            self._write_all()

    def _note_loss(self, where: str) -> None:
        """Rows could not be written, and perhaps no note either: it is said at the end."""
        with suppress(Exception):  # as in complain()
            self._unwritten[f"recorder, {where}: {_last_line()}"] = None

    def complain(self, where: str) -> None:
        """A hook failed with the exception being handled: one note for each kind of failure."""
        with suppress(Exception):
            if (kind := f"{where}: {_last_line()}") in self._complaints:
                return
            self._complaints.add(kind)
            self.append((self.encoder.event, {"e": "note", "message": f"recorder, {kind}"}))

    def _append_at_once(self, row: tuple[Any, ...]) -> None:
        self.rows.append(row)
        self.local.hidden += 1
        try:
            self.flush()
        finally:
            self.local.hidden -= 1

    @contextmanager
    def hiding(self) -> Iterator[None]:
        """Report nothing that this thread does inside the ``with``."""
        self.local.hidden += 1
        try:
            yield
        finally:
            self.local.hidden -= 1

    @contextmanager
    def letting_go(self) -> Iterator[None]:
        """Hold no memory of a tensor that is recorded inside once the ``with`` is left.

        A compiled function goes on with such tensors: see :meth:`.Edited.use_copies`.
        """
        callers, token = self.encoder.tensors.copied_for, object()
        callers.add(token)
        try:
            yield
        finally:
            self.catch_up()
            callers.discard(token)

    @contextmanager
    def deriving(self) -> Iterator[None]:
        """While this is entered, the thread traces the graph of a function's backward pass."""
        before, self.local.derives = self.local.derives, True
        try:
            yield
        finally:
            self.local.derives = before

    def _work(self) -> None:
        self.local.hidden = 1
        tensors, pause = self.encoder.tensors, _PAUSE
        while not self._closing:
            asking: list[Lock] = []
            try:
                is_asked = self._wake.acquire(timeout=pause)
                while self._waiting:  # first: who comes later may have more rows, or want them sent
                    asking.append(self._waiting.popleft())
                before = tensors.elements
                if self.rows or self._lines:
                    delivers, self._delivers = self._delivers, False
                    self._write_all(sends=delivers or not is_asked)
                pause = _SHORT_PAUSE if tensors.elements - before > _MANY_ELEMENTS else _PAUSE
            except Exception:  # the snippet has taken builtins away that threading needs
                sleep(_PAUSE)
            for is_done in asking:
                is_done.release()
        self._write_all()

    def _write_all(self, sends: bool = True) -> None:
        """Encode all rows; ``sends``: send them, too, however few they are."""
        with self._lock:
            self._is_writing = True
            try:
                while batch := self._take():
                    self._write(batch)
                    if len(self._lines) >= _BATCH:
                        self._send_lines()
                if sends:
                    self._send_lines()
            finally:
                self._is_writing = False

    def _take(self) -> list[tuple[Any, ...]]:
        """Take the oldest rows out."""
        batch = self.rows[:_BATCH]
        del self.rows[: len(batch)]
        return batch

    def _write(self, batch: list[tuple[Any, ...]]) -> None:
        try:
            lines, blob = self.encoder.encode(batch, self._note_loss)
        except Exception:
            self._note_loss("writing events")
            return
        if self._is_deaf:
            self._kept += sum(map(len, lines)) + len(blob)
            if self._kept > limits.UNSENT_BYTES:
                return
        self._lines += lines
        self._blob.append(blob)

    def _send_lines(self) -> None:
        if not self._lines or self._is_deaf:
            return
        try:
            self._send(self._lines, b"".join(self._blob))
        except Exception:  # the snippet broke what sends; tried once more when it is over
            self._is_deaf = True
        else:
            self._lines, self._blob = [], []


def _last_line() -> str:
    """The last line that Python prints for the exception being handled."""
    return format_exc(limit=-3).strip().splitlines()[-1]
