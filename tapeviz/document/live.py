"""A choice of interpreter in; the pipeline and the stages that the window really uses out."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..analysis import diagnose
from ..analysis.model import Diagnosis
from ..drawing import arrange, compose_over
from ..fixes import try_fixes
from ..graph.groups import GROUPINGS
from ..kernel import KernelChoice, KernelPool, PoolStatus
from ..layout import LAYOUTS
from ..recording import LiveRecording, Recorder, Snippet
from ..repair import repair
from ..shares import has_shares, share_table
from ..trace.model import Trace
from .pipeline import Listener, Repairs, Stages


class LivePipeline:
    """Runs in kernels of one choice; another choice closes the former ones in the background."""

    def __init__(self, choice: KernelChoice) -> None:
        self.choice = choice
        self.directory: Path | None = None
        self.arguments: tuple[str, ...] = ()
        self.timeout: float | None = None
        self.keeps_compiled = False
        self._told: Callable[[PoolStatus], None] = _ignore
        self._last: LiveRecording | None = None
        self._pool = self._make_pool()

    def _make_pool(self) -> KernelPool:
        return KernelPool(self.choice, on_status=self._tell)

    def tell(self, told: Callable[[PoolStatus], None]) -> None:
        """Sends the pool's status, now and at each change, to ``told``, on any thread."""
        self._told = told
        told(self._pool.status)

    def _tell(self, status: PoolStatus) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._told(status)

    @property
    def status(self) -> PoolStatus:
        return self._pool.status

    def warm(self) -> None:
        """Begins to get a process ready; returns at once."""
        self._pool.warm()

    def record(self, source: str, filename: str, listener: Listener) -> LiveRecording:
        last, self._last = self._last, None
        if last is not None:
            last.release()
        snippet = Snippet(
            source,
            filename,
            self.arguments,
            self.directory,
            self.timeout,
            {"eager_functions": not self.keeps_compiled},
        )
        self._last = Recorder(self._pool).record(snippet, listener)
        return self._last

    def try_fixes(
        self,
        trace: Trace,
        diagnosis: Diagnosis,
        told: Callable[[int, int], None],
        should_stop: Callable[[], bool],
    ) -> Diagnosis:
        like = self._last.snippet if self._last is not None else None
        return try_fixes(
            trace,
            diagnosis,
            Recorder(self._pool),
            like=like,
            on_progress=told,
            should_stop=should_stop,
        )

    def choose(self, choice: KernelChoice) -> None:
        """Runs go to another interpreter from now on."""
        former, self.choice, self._last = self._pool, choice, None
        self._pool = self._make_pool()
        self._pool.warm()
        threading.Thread(target=former.close, name="tapeviz-close", daemon=True).start()

    def close(self) -> None:
        """Ends every process; waits for their end."""
        self._last = None
        self._pool.close()


def _ignore(status: PoolStatus) -> None:
    """Before a window listens."""


def mend(text: str) -> Repairs:
    mended = repair(text)
    error = mended.error
    return Repairs(
        mended.text,
        tuple((one.line, one.what) for one in mended.repairs),
        f"line {error.line}: {error.message}" if error else "",
    )


def live_stages() -> Stages:
    compose: Any = compose_over
    return Stages(
        diagnose,
        arrange,
        compose,
        mend,
        has_shares,
        share_table,
        tuple(LAYOUTS),
        tuple(GROUPINGS),
    )
