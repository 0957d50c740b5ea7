"""Record the snippets of the window in its pools of processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...analysis.model import Diagnosis
from ...document.pipeline import LookInto
from ...errors import TapevizError
from ...fixes import try_fixes
from ...recording.live import Listener, LiveRecording, Recorder, Snippet
from ...trace.model import Trace
from .pools import Pools


class LivePipeline:
    """Records snippets in the processes of pools, with the user's directory, arguments and
    limit."""

    def __init__(self, pools: Pools) -> None:
        self.pools = pools
        self.directory: Path | None = None
        self.arguments: tuple[str, ...] = ()
        self.timeout: float | None = None
        self._last: LiveRecording | None = None

    def record(self, source: str, filename: str, listener: Listener) -> LiveRecording:
        last, self._last = self._last, None
        if last is not None:
            last.release()
        self.pools.close_former()
        plain = self._snippet(source, filename)
        snippet = replace(plain, shows_figures=True, has_terminal=True)
        self._last = Recorder(self.pools.pool).record(snippet, listener)
        return self._last

    def _snippet(self, source: str, filename: str) -> Snippet:
        return Snippet(source, filename, self.arguments, self.directory, self.timeout)

    def record_apart(
        self, source: str, filename: str, should_stop: Callable[[], bool], look: LookInto
    ) -> Trace:
        snippet = replace(self._snippet(source, filename), in_copy=True)
        if self._last is not None:
            snippet = replace(snippet, typed=self._last.again.typed)
        live = Recorder(self.pools.pool).record(snippet)
        try:
            while not should_stop():
                with contextlib.suppress(TimeoutError):
                    return look(live, live.wait(0.1))
            live.stop()
            raise TapevizError("the comparison was given up")
        finally:
            live.release()

    def try_fixes(
        self,
        trace: Trace,
        diagnosis: Diagnosis,
        on_progress: Callable[[int, int], None],
        should_stop: Callable[[], bool],
    ) -> Diagnosis:
        like = self._last.again if self._last is not None else None
        return try_fixes(
            trace,
            diagnosis,
            Recorder(self.pools.pool),
            like=like,
            on_progress=on_progress,
            should_stop=should_stop,
        )

    def close(self) -> None:
        """End every process, and wait for that."""
        self._last = None
        self.pools.close()
