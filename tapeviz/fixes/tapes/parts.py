"""Take the parts of a gradient where the parts of a tensor were asked for."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.replaced_source import ReplacedSource
from ...text.source import is_plain_path
from ..blocks import gradient_call
from ..model import Edit, FixCase
from ..nodes import all_of, argument, elements, is_call_to, nodes_in
from ..plan import Plan
from ..source import ParsedSource


def ask_for_whole(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, x[0])`` → ``tape.gradient(y, x)[0]``; so for the slices in a list."""
    source = case.source
    call = gradient_call(source, case.call)
    asked = argument(call, 1, "sources")
    if call is None or asked is None or case.cause.evidence != ReplacedSource("copy"):
        return
    if isinstance(asked, (cst.List, cst.Tuple)):
        yield from _ask_for_wholes(case, call, asked)
        return
    whole, part = _whole_and_part(source, asked)
    if part:
        plan = Plan(source)
        plan.replace(asked, whole)
        plan.replace(call, lambda old: cst.parse_expression(f"{source.code(old)}{part}"))
        title = f"Ask for the gradient of {whole}, and slice the result"
        yield from plan.edits(title, parts=(part,))


def _ask_for_wholes(case: FixCase, call: cst.Call, asked: cst.List | cst.Tuple) -> Iterator[Edit]:
    """``tape.gradient(y, [x[0], w])`` → ``whole = tape.gradient(y, [x, w])`` before it, and
    ``[whole[0][0], whole[1]]`` in its place."""
    source, trace = case.source, case.trace
    if len(asked.elements) != len(case.call.sources):
        return
    wholes, parts = [], []
    for element, operand in zip(asked.elements, case.call.sources, strict=True):
        maker = trace.maker(operand.tensor)
        is_slice = maker is not None and maker.type == "StridedSlice"
        code = source.code(element.value)
        whole, part = _whole_and_part(source, element.value) if is_slice else (code, "")
        wholes.append(whole)
        parts.append(part)
    if not any(parts):
        return
    plan = Plan(source)
    name, statement = plan.fresh_name("whole"), plan.statement_begun_by(call)
    if statement is None:
        return
    picked = ", ".join(f"{name}[{place}]{part}" for place, part in enumerate(parts))
    in_full = call.deep_replace(asked, cst.parse_expression(f"[{', '.join(wholes)}]"))
    plan.before(statement, f"{name} = {source.code(in_full)}")
    plan.replace(call, f"[{picked}]")
    titled = ", ".join(dict.fromkeys(w for w, p in zip(wholes, parts, strict=True) if p))
    title = f"Ask for the gradient of {titled}, and slice the result"
    yield from plan.edits(title, parts=tuple(parts))


def _whole_and_part(source: ParsedSource, node: cst.BaseExpression) -> tuple[str, str]:
    """``x`` and ``[0]`` of ``x[0]``, also of a name for it; no part for what is no slice of
    something with a name."""
    code = source.code(node)
    node = source.value_of(node)
    if not isinstance(node, cst.Subscript) or not is_plain_path(source.code(node.value)):
        return code, ""
    whole = source.code(node.value)
    return whole, source.code(node)[len(whole) :]


def ask_for_all_parts(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, [x[i] for i in range(3)])`` → ``whole = tape.gradient(y, x)`` before it,
    and ``[whole[i] for i in range(3)]`` in its place.

    So for ``tf.unstack(x)`` and ``list(x)``, for a name bound to such parts, and for names that
    were unpacked from them.
    """
    source = case.source
    call = gradient_call(source, case.call)
    asked = argument(call, 1, "sources")
    if call is None or asked is None or case.cause.evidence != ReplacedSource("copy"):
        return
    parts = _parts_expression(source, asked)
    x = _divided(source, parts) if parts is not None else None
    subscripts = _subscripts(source, parts, x, len(case.call.sources)) if parts and x else ()
    plan = Plan(source)
    statement = plan.statement_begun_by(call)
    if statement is None or parts is None or x is None or not subscripts:
        return
    whole, code = plan.fresh_name("whole"), source.code(x)
    plan.before(statement, f"{whole} = {source.code(call.deep_replace(asked, x))}")
    plan.replace(call, source.code(parts.deep_replace(x, cst.Name(whole))))
    title = f"Ask for the gradient of {code}, and take its parts"
    yield from plan.edits(title, parts=subscripts, asks_once=True)


def _parts_expression(source: ParsedSource, asked: cst.BaseExpression) -> cst.BaseExpression | None:
    """The expression that makes the parts: the one given, or that which its names were bound to."""
    if isinstance(asked, cst.Name):
        return source.bound_to(asked)
    if not isinstance(asked, (cst.List, cst.Tuple)):
        return asked
    names = [*map(source.code, elements(asked))]
    for assign in all_of(source.module, cst.Assign):
        if [*map(source.code, elements(assign.targets[0].target))] == names:
            return assign.value
    return None


def _divided(source: ParsedSource, parts: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``[x[i] for …]``, ``tf.unstack(x)``, ``list(x)``."""
    if isinstance(parts, cst.ListComp) and isinstance(parts.elt, cst.Subscript):
        x: cst.BaseExpression = parts.elt.value
    elif is_call_to(parts, "unstack", "list", "tuple"):
        if len(parts.args) != 1:
            return None
        x = parts.args[0].value
    else:
        return None
    return x if is_plain_path(source.code(x)) else None


def _subscripts(
    source: ParsedSource, parts: cst.BaseExpression | None, x: cst.BaseExpression | None, count: int
) -> tuple[str, ...]:
    """For each part the subscript that takes it: ``[:, 2]`` for the third of ``x[:, i]``."""
    if not isinstance(parts, cst.ListComp):
        return tuple(f"[{place}]" for place in range(count))
    loop, elt = parts.for_in, parts.elt
    is_counted = (
        isinstance(loop.target, cst.Name)
        and is_call_to(loop.iter, "range")
        and len(loop.iter.args) == 1
        and not (loop.ifs or loop.inner_for_in)
    )
    if not is_counted or x is None:
        return ()
    found = []
    for place in range(count):
        given = elt
        for node in nodes_in(elt):
            if isinstance(node, cst.Name) and node.deep_equals(loop.target):
                given = given.deep_replace(node, cst.Integer(str(place)))
        found.append(source.code(given)[len(source.code(x)) :])
    return tuple(found)
