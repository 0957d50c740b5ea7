"""Write the expression of a tensor that has a new value at ``x[…]``.

Whole rows by number become ``tensor_scatter_nd_update``; ranges become ``concat`` of what stays
and what is new, axis by axis; a comparison becomes ``where``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..forms import match
from ..source import ParsedSource


@dataclass(frozen=True, slots=True)
class SlicedAxis:
    """The part of one axis that is written: ``index``, or ``start:end`` (empty: to the edge)."""

    start: str = ""
    end: str = ""
    index: str = ""

    @property
    def is_whole(self) -> bool:
        return not (self.start or self.end or self.index)

    @property
    def written(self) -> str:
        """The code of the subscript that keeps the axis."""
        if not self.index:
            return f"{self.start}:{self.end}"
        return f"{self.index}:{_plus_one(self.index)}"

    @property
    def before(self) -> str:
        """The subscript of what stays in front of it; empty if nothing does."""
        first = self.index or self.start
        return f":{first}" if first and first != "0" else ""

    @property
    def behind(self) -> str:
        if self.index:
            end = _plus_one(self.index)
            return f"{end}:" if end else ""
        return f"{self.end}:" if self.end else ""


def written_part(small: cst.CSTNode | None) -> cst.Subscript | None:
    """``out[i, j]`` of ``out[i, j] = …`` and of ``out[i, j] += …``."""
    target: cst.BaseExpression | None = None
    if isinstance(small, cst.AugAssign):
        target = small.target
    elif isinstance(small, cst.Assign) and len(small.targets) == 1:
        target = small.targets[0].target
    is_of_name = isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name)
    return target if is_of_name else None  # type: ignore[return-value]


def after_write(
    source: ParsedSource, write: cst.Assign | cst.AugAssign, value: cst.BaseExpression
) -> str:
    """The tensor after ``x[…] = value`` or ``x[…] += value``; empty for another form."""
    target, tf = written_part(write), source.tf
    if target is None:
        return ""
    name, part, new = source.code(target.value), source.code(target), source.code(value)
    mask = next(iter(match(target, "_v[_i]")), None)
    is_mask = isinstance(mask, cst.Comparison)
    axes = axes_of(target, None) or ()
    if isinstance(write, cst.AugAssign):
        sign = source.code(write.operator).strip().removesuffix("=")
        new = f"{name if is_mask else part} {sign} {source.operand(value)}"
    elif isinstance(value, cst.BaseNumber) and not (is_mask or all(axis.index for axis in axes)):
        new = f"{tf}.zeros_like({part}) + {new}"  # a number has no axes to join along
    if mask is not None and is_mask:
        return f"{tf}.where({source.code(mask)}, {new}, {name})"
    return with_part(tf, name, target, None, new)


def with_part(
    tf: str, name: str, subscript: cst.Subscript, shape: Sequence[int | None] | None, value: str
) -> str:
    """The tensor ``name`` with ``value`` at a subscript; empty for one of another form."""
    axes = axes_of(subscript, shape)
    if axes is None:
        return _stepped(tf, name, subscript, shape, value)
    return _updated(tf, name, axes, value)


def axes_of(
    subscript: cst.Subscript, shape: Sequence[int | None] | None
) -> tuple[SlicedAxis, ...] | None:
    """The elements that a subscript picks on each axis; None for steps, new axes, index arrays."""
    axes: list[SlicedAxis] = []
    elements = subscript.slice
    for place, element in enumerate(elements):
        part = element.slice
        if isinstance(part, cst.Index):
            if isinstance(part.value, cst.Ellipsis):
                if shape is None:
                    return None
                axes += [SlicedAxis()] * (len(shape) - len(elements) + 1)
                continue
            if isinstance(part.value, cst.Name) and part.value.value == "None":
                return None
            axes.append(SlicedAxis(index=_counted(_code(part.value), shape, len(axes))))
        elif isinstance(part, cst.Slice):
            if part.step is not None:
                return None
            axes.append(_range(part, shape, place))
        else:
            return None
    return tuple(axes)


def _counted(index: str, shape: Sequence[int | None] | None, place: int) -> str:
    """A negative index counted from the front, which scatter needs."""
    try:
        number = int(index)
    except ValueError:
        return index
    size = shape[place] if shape is not None and place < len(shape) else None
    return str(number + size) if number < 0 and size is not None else index


def _range(part: cst.Slice, shape: Sequence[int | None] | None, place: int) -> SlicedAxis:
    start = _code(part.lower) if part.lower is not None else ""
    end = _code(part.upper) if part.upper is not None else ""
    size = shape[place] if shape is not None and place < len(shape) else None
    if size is not None and end.isdigit() and int(end) >= size:
        end = ""
    return SlicedAxis("" if start == "0" else start, end)


def _updated(tf: str, name: str, axes: Sequence[SlicedAxis], value: str) -> str:
    """The tensor ``name`` with ``value`` at these axes."""
    while axes and axes[-1].is_whole:
        axes = axes[:-1]
    if not axes:
        return value
    if all(axis.index for axis in axes):
        indices = ", ".join(axis.index for axis in axes)
        return f"{tf}.tensor_scatter_nd_update({name}, [[{indices}]], [{value}])"
    value = _with_kept_axes(tf, axes, value)
    return _joined(tf, name, axes, value, 0)


def _with_kept_axes(tf: str, axes: Sequence[SlicedAxis], value: str) -> str:
    """A number as subscript drops its axis; concat needs it again."""
    for place, axis in enumerate(axes):
        if axis.index:
            value = f"{tf}.expand_dims({value}, {place})"
    return value


def _joined(tf: str, name: str, axes: Sequence[SlicedAxis], value: str, place: int) -> str:
    if place == len(axes):
        return value
    axis = axes[place]
    inner = _joined(tf, name, axes, value, place + 1)
    if axis.is_whole:
        return inner
    front = [axis.written for axis in axes[:place]]
    parts = [
        f"{name}[{', '.join([*front, axis.before])}]" if axis.before else "",
        inner,
        f"{name}[{', '.join([*front, axis.behind])}]" if axis.behind else "",
    ]
    kept = [part for part in parts if part]
    return f"{tf}.concat([{', '.join(kept)}], {place})" if len(kept) > 1 else inner


def _stepped(
    tf: str, name: str, subscript: cst.Subscript, shape: Sequence[int | None] | None, value: str
) -> str:
    """The tensor with ``value`` at ``[start:end:step]`` of its first axis; empty if it is other."""
    part = subscript.slice[0].slice
    size = shape[0] if shape else None
    if len(subscript.slice) != 1 or not isinstance(part, cst.Slice) or part.step is None:
        return ""
    start, step = _code(part.lower) if part.lower else "0", _code(part.step)
    end = _code(part.upper) if part.upper else str(size) if size is not None else ""
    if not end or step.startswith("-"):
        return ""
    places = f"{tf}.range({start}, {end}, {step})[:, {tf}.newaxis]"
    return f"{tf}.tensor_scatter_nd_update({name}, {places}, {value})"


def _plus_one(index: str) -> str:
    """The end of a slice that holds this one index; empty for the last one of an axis."""
    try:
        after = int(index) + 1
    except ValueError:
        return f"{index} + 1"
    return str(after) if after else ""


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
