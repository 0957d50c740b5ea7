"""Run requests, each in a fresh process that has TensorFlow loaded already."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .import_settings import import_settings
from .model import Confinement, KernelChoice, PoolStatus, RunListener, RunRequest
from .run import Run
from .supply import Supply

if TYPE_CHECKING:
    import zmq

_RECORDER = Path(__file__).parents[1] / "recorder"
# Seconds from the start of a run until the next reserve kernel is made: on few cores it would delay
# the picture.
_REFILL_AFTER = 0.5
_RECONNECT_AFTER = 5  # milliseconds
_MOST_SUPPLIES = 2
# Ended runs whose process is kept for questions; of more, the oldest is released.
_MOST_KEPT = 8


class KernelPool:
    """The kernels of an interpreter, for a session of the app or a call of the command line.

    ``reserve``: the number of warm kernels that wait for runs; ``runs``: the number of runs to
    expect, if known. ``on_status`` is called on background threads. The process of an ended run
    stays for ``Run.fetch`` until ``Run.release``, or until eight later runs have ended.
    :meth:`close` leaves no process, thread or file behind.
    """

    def __init__(
        self,
        choice: KernelChoice,
        *,
        reserve: int = 1,
        runs: int | None = None,
        recorder: Path | None = None,
        confinement: Confinement | None = None,
        on_status: Callable[[PoolStatus], None] | None = None,
    ) -> None:
        self._choice = choice
        self._reserve = reserve
        self._is_resting = False
        self._runs_left = runs
        self._recorder = recorder or _RECORDER
        self._confinement = confinement or Confinement()
        self._on_status = on_status
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._status = PoolStatus("cold")
        # By the environment settings of their TensorFlow; the one used last comes last.
        self._supplies: dict[frozenset[tuple[str, str]], Supply] = {}
        self._retiring: list[threading.Thread] = []
        self._kept: list[Run] = []
        self._waiting: list[tuple[Run, Supply]] = []
        self._refill: threading.Timer | None = None
        self._made_context: zmq.Context[Any] | None = None

    @property
    def status(self) -> PoolStatus:
        """The state of the pool now."""
        return self._status

    def warm(self) -> None:
        """Begin to start kernels; returns at once."""
        with self._lock:
            if self._status.state == "closed":
                return
            supply = self._current or self._supply({})
        supply.open()

    def run(self, request: RunRequest, listener: RunListener) -> Run:
        """Run a snippet in a fresh process; returns at once."""
        run = Run(next(self._numbers), request, listener, self._withdraw)
        with self._lock:
            if self._status.state == "closed":
                raise RuntimeError("the pool is closed")
            supply = self._supply(import_settings(request.source))
            self._waiting.append((run, supply))
        supply.open()
        self._assign_and_fill(supply)
        return run

    @property
    def is_in_use(self) -> bool:
        """Whether a run waits, is under way, or has ended and may be asked for values."""
        with self._lock:
            return bool(self._waiting or self._kept)

    def rest(self) -> None:
        """Keep no kernels ready any more; the runs that there are go on and can be asked."""
        with self._lock:
            self._is_resting = True
            supplies = list(self._supplies.values())
        for supply in supplies:
            self._assign_and_fill(supply)

    def close(self) -> None:
        """Stop every run, end every process and wait for that; not to be called by a listener."""
        with self._lock:
            if self._status.state == "closed":
                return
            self._notify(PoolStatus("closed", versions=self._status.versions))
            waiting, self._waiting = self._waiting, []
            supplies, refill = list(self._supplies.values()), self._refill
        if refill is not None:
            refill.cancel()
            refill.join()
        for run, _ in waiting:
            run.end_closed()
        for supply in supplies:
            supply.close()
        for thread in self._retiring:
            thread.join()
        if self._made_context is not None:
            self._made_context.term()

    def __enter__(self) -> KernelPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _context(self) -> zmq.Context[Any]:
        """The zmq context, made with the first kernel: loading zmq would delay TensorFlow's
        import."""
        import zmq

        with self._lock:
            if self._made_context is None:
                self._made_context = zmq.Context()
                # A kernel makes its sockets 0.06 s after its fork; by default zmq would look for
                # them at once, and then only every 0.1 to 0.2 s.
                self._made_context.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_AFTER)
            return self._made_context

    @property
    def _current(self) -> Supply | None:
        return next(reversed(self._supplies.values()), None)

    def _supply(self, settings: Mapping[str, str]) -> Supply:
        """The supply for ``settings``, which becomes the current one."""
        key = frozenset(settings.items())
        supply = self._supplies.pop(key, None)
        if supply is None:
            supply = Supply(
                self._choice,
                settings,
                self._recorder,
                self._confinement,
                self._context,
                on_change=lambda: self._assign_and_fill(self._supplies.get(key)),
                on_declined=self._take_back,
            )
        self._supplies[key] = supply
        if len(self._supplies) > _MOST_SUPPLIES:
            self._retire()
        return supply

    def _retire(self) -> None:
        """Close the least recently used supply, unless a run waits for it."""
        key, oldest = next(iter(self._supplies.items()))
        if all(supply is not oldest for _, supply in self._waiting):
            del self._supplies[key]
            self._retiring.append(threading.Thread(target=oldest.close, name="tapeviz-retire"))
            self._retiring[-1].start()

    def _assign_and_fill(self, supply: Supply | None) -> None:
        """Assign the ready kernels of ``supply`` to waiting runs, and let it start missing ones."""
        if supply is None:  # retired
            return
        failed: list[Run] = []
        with self._lock:
            if self._status.state == "closed":
                return
            status = supply.status
            if status.state == "failed":
                failed = self._waiting_for(supply)
                self._waiting = [
                    (run, other) for run, other in self._waiting if other is not supply
                ]
            else:
                self._assign(supply)
                self._fill(supply)
                if self._is_resting:
                    supply.release_ready()
            if supply is self._current:
                self._notify(status)
        for run in failed:
            run.fail(status.detail)

    def _assign(self, supply: Supply) -> None:
        for run in self._waiting_for(supply):
            kernel = supply.take()
            if kernel is None:
                return
            self._waiting.remove((run, supply))
            if self._runs_left is not None:
                self._runs_left -= 1
            if self._refill is None or not self._refill.is_alive():
                self._refill = threading.Timer(_REFILL_AFTER, self._fill_now)
                self._refill.daemon = True
                self._refill.start()
            run.assign(kernel)
            kernel.run(run)
            self._keep(run)

    def _keep(self, run: Run) -> None:
        if run not in self._kept:
            self._kept.append(run)
        ended = [kept for kept in self._kept if kept.has_ended]
        for old in ended[: max(0, len(ended) - _MOST_KEPT)]:
            self._kept.remove(old)
            old.release()

    def _fill(self, supply: Supply) -> None:
        waiting = len(self._waiting_for(supply))
        # Just before and after the start of a run the reserve waits: it would slow the run down.
        is_early = waiting > 0 or (self._refill is not None and self._refill.is_alive())
        has_reserve = supply is self._current and not is_early and not self._is_resting
        reserve = self._reserve if has_reserve else 0
        if self._runs_left is not None:
            reserve = min(reserve, max(0, self._runs_left - waiting))
        supply.want(waiting + reserve)

    def _fill_now(self) -> None:
        with self._lock:
            self._refill = None
            supply = self._current
        self._assign_and_fill(supply)

    def _waiting_for(self, supply: Supply) -> list[Run]:
        return [run for run, its in self._waiting if its is supply]

    def _withdraw(self, run: Run) -> bool:
        """Let ``run`` wait no longer; returns whether it was waiting."""
        with self._lock:
            left = [entry for entry in self._waiting if entry[0] is not run]
            was_waiting = len(left) < len(self._waiting)
            self._waiting = left
            return was_waiting

    def _take_back(self, run: Run) -> None:
        """Let a run wait again, whose kernel had died before it began."""
        with self._lock:
            is_open = self._status.state != "closed"
            supply = self._supply(import_settings(run.source))
            if is_open and not run.was_stopped:
                if self._runs_left is not None:
                    self._runs_left += 1
                self._waiting.insert(0, (run, supply))
        if not is_open:
            run.end_closed()
        elif run.was_stopped:
            run.end_unbegun()
        else:
            supply.open()
            self._assign_and_fill(supply)

    def _notify(self, status: PoolStatus) -> None:
        if status != self._status:
            self._status = status
            if self._on_status is not None:
                self._on_status(status)
