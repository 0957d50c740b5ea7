"""A trace in, the ways of values through Python and NumPy out.

TensorFlow sees a value leave (``.numpy()``, ``float()``) and a constant come back, nothing between.
What happened between is followed by names and object ids: a statement that reads a tainted name
taints the names that it binds. That is how a reader would follow it; it is never certain.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..trace.expressions import SourceText
from ..trace.model import Binding, Leave, Op, Site, TensorId, Trace


@dataclass(frozen=True, slots=True)
class Outside:
    """``links``: constant that came back → tensors that its value was made from;
    ``leaves``: the leave of each such tensor."""

    links: Mapping[TensorId, tuple[TensorId, ...]] = field(default_factory=dict)
    leaves: Mapping[TensorId, Leave] = field(default_factory=dict)


NOTHING_OUTSIDE = Outside()


def follow(trace: Trace, text: SourceText) -> Outside:
    """The links between what left TensorFlow and the constants that came back."""
    if not trace.leaves or text.tree is None:
        return NOTHING_OUTSIDE
    return _Follower(trace, text).follow()


class _Follower:
    def __init__(self, trace: Trace, text: SourceText) -> None:
        self.trace = trace
        self.text = text
        self.by_name: dict[tuple[str, str], frozenset[TensorId]] = {}
        self.by_object: dict[int, frozenset[TensorId]] = {}
        self.by_line: dict[int, frozenset[TensorId]] = {}
        self.links: dict[TensorId, set[TensorId]] = {}
        self.leaves: dict[TensorId, Leave] = {}
        self.seen: set[TensorId] = set()

    def follow(self) -> Outside:
        for what in self._in_order():
            if isinstance(what, Leave):
                self._left(what)
            elif isinstance(what, Binding):
                self._bound(what)
            else:
                self._took(what)
        links = {tensor: tuple(sorted(made_from)) for tensor, made_from in self.links.items()}
        return Outside(links, self.leaves)

    def _in_order(self) -> Iterator[Leave | Binding | Op]:
        first = min(leave.when for leave in self.trace.leaves)
        happened: list[Leave | Binding | Op] = [*self.trace.leaves, *self.trace.bindings]
        happened.extend(self.trace.ops.values())
        recent = (one for one in happened if one.when >= first)
        return iter(sorted(recent, key=lambda one: one.when))

    def _left(self, leave: Leave) -> None:
        tensors = frozenset({leave.tensor})
        self.leaves.setdefault(leave.tensor, leave)
        if leave.object:
            self.by_object[leave.object] = tensors
        for line in self._lines(leave.site):
            self.by_line[line] = self.by_line.get(line, frozenset()) | tensors

    def _bound(self, binding: Binding) -> None:
        scope = binding.site.frames[0].function if binding.site.frames else ""
        taint = self.by_object.get(binding.object, frozenset()) if binding.object else frozenset()
        taint = taint or self._taint_of_statement(binding.site)
        if not binding.tensors:
            self.by_name[scope, binding.name] = taint
            if taint and binding.object:
                self.by_object[binding.object] = taint
            return
        self.by_name.pop((scope, binding.name), None)
        for tensor, _ in binding.tensors:
            self._came_back(tensor, taint)

    def _took(self, op: Op) -> None:
        taint: frozenset[TensorId] | None = None
        for tensor in op.inputs:
            if tensor in self.seen or tensor in self.trace.producers:
                continue
            if taint is None:
                taint = self._taint_of_statement(op.site)
            self._came_back(tensor, taint, op.site)
            self.seen.add(tensor)

    def _came_back(
        self, tensor: TensorId, taint: frozenset[TensorId], site: Site | None = None
    ) -> None:
        known = self.trace.tensors.get(tensor)
        if not taint or tensor in self.trace.producers or known is None or known.is_handle:
            return
        if site is not None and self._is_literal(tensor, site):
            return
        self.links.setdefault(tensor, set()).update(one for one in taint if one != tensor)

    def _is_literal(self, tensor: TensorId, site: Site) -> bool:
        """Whether the constant is a number that stands in the statement itself."""
        value = self.trace.value(tensor)
        statement = self.text.statement(site.line)
        if value is None or value.size != 1 or statement is None:
            return value is not None and value.dtype.kind in "iu" and value.ndim == 1
        number = value.ravel()[0]
        return any(
            isinstance(node, ast.Constant)
            and isinstance(node.value, (int, float))
            and value.dtype.type(node.value) == number
            for node in ast.walk(statement)
        )

    def _taint_of_statement(self, site: Site) -> frozenset[TensorId]:
        """What the names read by the innermost statement carry, and what left on it just now."""
        taint: frozenset[TensorId] = frozenset()
        for frame in site.frames[:1]:
            taint |= self.by_line.get(frame.line, frozenset())
            for name in self._loads.get(frame.line, ()):
                taint |= self.by_name.get((frame.function, name), frozenset())
                taint |= self.by_name.get(("<module>", name), frozenset())
        return taint

    def _lines(self, site: Site) -> set[int]:
        return {frame.line for frame in site.frames}

    @cached_property
    def _loads(self) -> dict[int, frozenset[str]]:
        """For each line the names that the simple statement on it reads."""
        loads: dict[int, set[str]] = {}
        for node in ast.walk(self.text.tree) if self.text.tree else ():
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                names = {
                    name.id
                    for name in ast.walk(node)
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
                }
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    loads.setdefault(line, set()).update(names)
        return {line: frozenset(names) for line, names in loads.items()}
