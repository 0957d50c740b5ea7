"""Call the function of a ``custom_gradient`` that a compiled function has in its graph.

The function takes gradients and uses tensors of the graph around it. It is traced by itself, once
for each op, as a function that takes those tensors as further arguments; nothing goes into the
graph of the snippet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from .. import private


@dataclass(frozen=True, slots=True)
class _Traced:
    """``places``: of its results among the inputs of the op, which has a gradient for those alone;
    ``uses``: the tensors around it that it takes, as symbols of their graphs."""

    function: Any
    places: Sequence[int]
    uses: Sequence[Any]


class OwnGradients:
    """The functions of the ops of graphs, each traced when it is first called."""

    def __init__(self) -> None:
        self._traced: dict[Any, _Traced | LookupError] = {}

    def of(self, op: Any, names: Callable[[Any], int]) -> OwnGradient:
        """The function of an op in one run of its graph; ``names``: the ids there of symbols."""
        return OwnGradient(self, op, names)

    def traced(self, op: Any) -> _Traced:
        """Raises :class:`LookupError`, in words, where it cannot be traced again."""
        if op not in self._traced:
            with redirect_stdout(StringIO()):  # what it prints was printed in the run
                self._traced[op] = _trace(op)
        traced = self._traced[op]
        if isinstance(traced, LookupError):
            raise traced
        return traced


def _trace(op: Any) -> _Traced | LookupError:
    places: list[int] = []

    def backward(*upstream: Any) -> list[Any]:
        given = private.gradient_function_of(op)(op, *upstream)
        places[:] = [place for place, gradient in enumerate(given) if gradient is not None]
        return [private.as_dense(given[place]) for place in places]

    try:
        function = private.traced_in(op.graph, backward, op.outputs)
    except Exception as error:
        return LookupError(f"its custom gradient cannot be traced again: {_first_line(error)}")
    if not private.only_computes(function):
        return LookupError("its custom gradient does more than compute: it would do that again")
    return _Traced(function, places, private.captured_symbols(function))


@dataclass(frozen=True, slots=True)
class OwnGradient:
    """The function of one op in one run of its graph."""

    functions: OwnGradients
    op: Any
    names: Callable[[Any], int]

    def __call__(self, upstream: Sequence[Any], tensor: Callable[[int], Any]) -> list[Any]:
        """A gradient or None for each input. ``tensor``: gives that of an id, or raises."""
        traced = self.functions.traced(self.op)
        uses = [
            # the handle of a variable, or a tensor outside
            symbol if isinstance(symbol, private.EagerTensor) else tensor(self.names(symbol))
            for symbol in traced.uses
        ]
        try:
            given = private.call_traced(traced.function, upstream, uses)
        except Exception as error:
            raise LookupError(f"its custom gradient raised: {_first_line(error)}") from None
        found: Mapping[int, Any] = dict(zip(traced.places, given, strict=True))
        return [found.get(place) for place in range(len(self.op.inputs))]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
