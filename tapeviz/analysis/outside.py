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
    if text.tree is None:
        return NOTHING_OUTSIDE
    follower = _Follower(trace, text)
    return follower.follow() if trace.leaves or follower.numpy_reads else NOTHING_OUTSIDE


class _Follower:
    def __init__(self, trace: Trace, text: SourceText) -> None:
        self.trace = trace
        self.text = text
        self.by_name: dict[tuple[str, str], frozenset[TensorId]] = {}
        self.by_object: dict[int, frozenset[TensorId]] = {}
        self.by_line: dict[int, frozenset[TensorId]] = {}
        self.tensors: dict[tuple[str, str], frozenset[TensorId]] = {}
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
        happened: list[Leave | Binding | Op] = [*self.trace.leaves, *self.trace.bindings]
        happened.extend(self.trace.ops.values())
        return iter(sorted(happened, key=lambda one: one.when))

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
            self.tensors.pop((scope, binding.name), None)
            self.by_name[scope, binding.name] = taint
            if taint and binding.object:
                self.by_object[binding.object] = taint
            return
        self.by_name.pop((scope, binding.name), None)
        self.tensors[scope, binding.name] = frozenset(tensor for tensor, _ in binding.tensors)
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
            self._leave_by_buffer(site)
            taint |= self.by_line.get(frame.line, frozenset())
            for name in self._loads.get(frame.line, ()):
                taint |= self.by_name.get((frame.function, name), frozenset())
                taint |= self.by_name.get(("<module>", name), frozenset())
        return taint

    def _leave_by_buffer(self, site: Site) -> None:
        """``np.sin(t)`` takes a tensor's elements without asking it: only the text tells."""
        frame = site.frames[0]
        for name in self.numpy_reads.get(frame.line, ()):
            scopes = ((frame.function, name), ("<module>", name))
            tensors = next((self.tensors[one] for one in scopes if one in self.tensors), None)
            if tensors and frame.line not in self.by_line:
                self.by_line[frame.line] = tensors
                for tensor in tensors:
                    self.leaves.setdefault(tensor, Leave(tensor, "buffer", site, 0))

    @cached_property
    def numpy_reads(self) -> dict[int, frozenset[str]]:
        """For each line the names that stand as arguments in a call of a NumPy function."""
        found: dict[int, set[str]] = {}
        for node in ast.walk(self.text.tree) if self.text.tree else ():
            if isinstance(node, ast.Call) and _root(node.func) in self._numpy_names:
                for argument in (*node.args, *(one.value for one in node.keywords)):
                    found.setdefault(node.lineno, set()).update(_elements_read(argument))
        return {line: frozenset(names) for line, names in found.items() if names}

    @cached_property
    def _numpy_names(self) -> frozenset[str]:
        names = {"np", "numpy"}
        for node in ast.walk(self.text.tree) if self.text.tree else ():
            if isinstance(node, ast.Import):
                names |= {one.asname or one.name for one in node.names if one.name == "numpy"}
        return frozenset(names)

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


def _root(node: ast.expr) -> str:
    """``np`` of ``np.linalg.norm``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _elements_read(node: ast.expr) -> set[str]:
    """The names in an expression whose elements it reads: not those of which it reads the form."""
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype", "ndim"):
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    children = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
    return {name for child in children for name in _elements_read(child)}
