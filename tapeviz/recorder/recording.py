"""The state that one run's hooks share: log, sites, ids of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from sys import _getframe
from types import FrameType
from typing import Any, TypeVar
from weakref import ref

from . import private
from .hooks.definitions import Definitions
from .hooks.kept_calls import KeptCalls
from .hooks.traced_names import TracedNames
from .log import Log
from .sites import Sites
from .symbols import Symbols
from .weak_keys import ByGraph

_F = TypeVar("_F", bound=Callable[..., Any])


class RecordingContext:
    """One run, as its hooks see it."""

    def __init__(
        self,
        log: Log,
        sites: Sites,
        symbols: Symbols,
        kept_calls: KeptCalls,
        source: str,
        filename: str,
        *,
        holds_what_runs: bool,
    ) -> None:
        self.log = log
        self.append = log.append
        """Log a row that holds the state of its thread, or that has none."""
        self.encoder = log.encoder
        self.local = log.local
        self.sites = sites
        self.filename = filename
        self.symbols = symbols
        self.kept_calls = kept_calls
        self.holds_what_runs = holds_what_runs
        """Graphs and gradient functions stay as long as this, though the snippet drops them."""
        self.on_op: Any = None
        """The op callback, on each thread whose ops are seen."""
        self.definitions = Definitions(source)
        self.tracing: list[int] = []
        """The numbers of the threads that trace a graph now, each as often as it traces some."""
        self.jacobians: set[int] = set()
        """Calls whose backward pass TensorFlow traces into a graph of its own (pfor)."""
        self.bodies: dict[str, ref[Any]] = {}
        """Graphs that branches and loops run, by the names that ops know them by."""
        self.traced_names = TracedNames(source)
        self._runs: ByGraph[dict[str, list[Any]]] = ByGraph("runs", holds=holds_what_runs)
        self.returned: dict[int, int] = {}
        """How many outputs a graph had when it was traced: for gradients TensorFlow adds some."""
        self._generated: dict[tuple[str, int], tuple[str, int, str]] = {}
        self._generated_now: Mapping[tuple[str, int], tuple[str, int, str]] = self._generated

    def log_row(self, row: tuple[Any, ...]) -> None:
        """Log a row that calls a method of the encoder.

        Rows of several threads lie mixed. What a thread logs belongs to the graph that it traces
        itself; a replica's thread (``tf.distribute``) builds the graph that another traces.
        """
        tracer = self.local.state[2]
        if tracer and tracer not in self.tracing and private.graph_being_built() is not None:
            tracer = self.tracing[-1] if self.tracing else tracer
        self.append((self.encoder.from_thread, tracer, *row) if tracer else row)

    def note_run(self, op: Any, graphs: list[Any]) -> None:
        """``op``, which is in a graph, runs these graphs."""
        self._runs_in(op.graph)[op.name] = graphs

    def note_body(self, graph: Any) -> None:
        """``graph`` is complete: ops that run it find it by its name."""
        self.bodies[graph.name] = ref(graph)
        self._runs_in(graph)

    def _runs_in(self, graph: Any) -> dict[str, list[Any]]:
        runs = self._runs.get(graph)
        if runs is None:
            runs = self._runs[graph] = {}
        return runs

    def run_by(self, graph: Any, op: str) -> list[Any] | None:
        """The graphs that the op of this name in ``graph`` runs, as they were traced."""
        return (self._runs.get(graph) or {}).get(op)

    def emit(self, fields: dict[str, Any], tensors: list[Any] | tuple[Any, ...] = ()) -> None:
        """Log an event. ``tensors``: those it names, eager or symbolic."""
        eager = []
        for tensor in tensors:
            if isinstance(tensor, private.EagerTensor):
                eager.append(tensor)
            else:
                self.emit_symbolic(tensor)
        self.log_row((self.encoder.event, fields, eager))

    def emit_symbolic(self, tensor: Any) -> int:
        """The id of a graph's tensor, whose event is logged."""
        identity = self.symbols.id(tensor)
        if identity < 0:
            self.log_row((self.encoder.symbolic, [(identity, tensor)]))
        return identity

    def id(self, tensor: Any) -> int:
        """The id of a tensor, eager or symbolic; 0 for anything else."""
        if isinstance(tensor, private.EagerTensor):
            return private.id_of(tensor)
        return self.symbols.id(tensor)

    def tensor_of(self, value: Any) -> Any:
        """The tensor that stands for a value: itself, a variable's handle, or the numbers of a
        ragged or sparse tensor; else ``None``."""
        if private.is_instance(value, private.Tensor):
            return value
        with suppress(Exception):
            handle = private.handle_of(value)
            return private.values_of(value) if handle is None else handle
        return None

    def here(self, frame: FrameType | None) -> int:
        """The number of the place in the snippet that ``frame`` was called from."""
        lines = private.autograph_lines()
        if lines and lines is not self._generated_now:
            self._generated.update(lines)
            self._generated_now = lines
        return self.sites.here_in_graph(frame, lines)

    def here_when_called(self, frame: FrameType | None) -> int:
        """Like :meth:`here`, for Python that a compiled function calls back when it runs: what
        AutoGraph generated may call it, long after that was traced."""
        return self.sites.here_in_graph(frame, self._generated)

    def is_direct(self, frame: FrameType | None) -> bool:
        """Whether the snippet itself, or what AutoGraph made of it, is the caller."""
        while frame is not None and frame.f_globals.get("__name__") == private.AUTOGRAPH_CALLS:
            frame = frame.f_back
        if frame is None or self.is_snippet(frame):
            return frame is not None
        origin = private.autograph_lines().get((frame.f_code.co_filename, frame.f_lineno))
        return origin is not None and origin[0] == self.filename

    def line_in_snippet(self, frame: FrameType, line: int) -> int:
        """The snippet's line that a frame stands at on ``line``, itself or in what AutoGraph made
        of it; 0 elsewhere."""
        if self.is_snippet(frame):
            return line
        origin = private.autograph_lines().get((frame.f_code.co_filename, line))
        return origin[1] if origin is not None and origin[0] == self.filename else 0

    def is_snippet(self, frame: FrameType | None) -> bool:
        return frame is not None and frame.f_code.co_filename == self.filename

    def guarded(self, hook: _F) -> _F:
        """``hook``, but a failure of its own becomes a note and ``None`` comes back."""

        @wraps(hook)
        def safe(*args: Any, **named: Any) -> Any:
            try:
                return hook(*args, **named)
            except Exception:
                self.log.complain(hook.__name__)
                return None

        return safe  # type: ignore[return-value]

    @contextmanager
    def shielded(self, where: str) -> Iterator[None]:
        """Turn an exception inside into a note of the recording."""
        try:
            yield
        except Exception:
            self.log.complain(where)


def caller(above: int = 0) -> FrameType:
    """The frame that called the function that asks, or one so many calls above it."""
    return _getframe(above + 2)
