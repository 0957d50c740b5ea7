"""Use the tensor in which a source's way ends, in the place of one like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import libcst as cst

from ...analysis.causes.connections.not_connected import NotConnected, SameSlope
from ...analysis.causes.tapes.outside_tape import OutsideTape
from ...analysis.flow.ends import Ends
from ...analysis.python.shadowed import Shadowed
from ...wording import enumerated
from ..blocks import block_of_call, body_of, gradient_call
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bound_names,
    called_name,
    elements,
    is_call_to,
    nodes_in,
    pairs_of,
    read_names,
    sole,
)
from ..plan import Plan, fitting
from ..renaming import reads_of, rename_reads
from ..source import CstStatement

_ALIKE = 0.5
"""A ``difflib`` ratio: ``l_score`` and ``r_score`` have 0.86, ``mse`` and ``reg`` 0.33."""


def use_the_unused(case: FixCase) -> Iterator[Edit]:
    """``margin = f(l_score, l_score)`` → ``f(l_score, r_score)``, where ``r_score`` goes nowhere.

    The tensor taken out has the dtype and shape of the one put in. Names that are alike come first,
    then the use nearest after the unused tensor was made. The last of several reads in a statement
    comes first: the first was written, the next copied from it.
    """
    name, made = _unused(case)
    if made is None:
        return
    source = case.source
    uses = [
        (-_likeness(name, other), place, other, read)
        for place, statement in enumerate(source.after(made))
        for other in _names_like(case, name)
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef))
        for read in reversed(list(reads_of(source, cst.Name(other), [statement])))
    ]
    alike = [use for use in uses if -use[0] >= _ALIKE]
    adding = [*_added(case, name, made), *_made_beside(case, made)]
    yield from () if alike else adding
    for _, _, other, read in sorted(alike or uses, key=lambda use: use[:2]):
        title = f"Use {name} in place of {other}: nothing uses {name}"
        yield from Plan(source, {read: name}).edits(title, has_other_value=True)
    yield from adding if alike else ()


def _made_beside(case: FixCase, made: CstStatement) -> Iterator[Edit]:
    """``za, zb = proj(ha), proj(hb)`` and then ``f(ha, hb)`` → ``f(za, zb)``: what follows takes
    what the function was given, and not what it gave."""
    source, later, plan = case.source, case.source.after(made), Plan(case.source)
    read = set().union(*map(read_names, later))
    functions = [called_name(call) for call in all_of(made, cst.Call)]
    used: dict[str, str] = {}
    statements = map(sole, source.siblings(made))
    for small in (each for each in statements if isinstance(each, cst.Assign)):
        for to, value in pairs_of(small.targets[0].target, small.value):
            given = argument(value, 0)
            is_unused = isinstance(to, cst.Name) and to.value not in read
            if is_unused and is_call_to(value, *functions) and isinstance(given, cst.Name):
                used[given.value] = source.code(to)
    counts = [rename_reads(plan, cst.Name(given), new, later) for given, new in used.items()]
    if used and all(counts):
        news = enumerated(used.values())
        title = f"Use {news} in place of {enumerated(used)}: nothing uses {news}"
        yield from plan.edits(title, has_other_value=True)


def use_made_tensor(case: FixCase) -> Iterator[Edit]:
    """``xt = tf.constant(x); tape.watch(xt); y = model(x)`` → ``model(xt)``: the tensor that is
    asked for was made from what the target is computed with, an array or another tensor.

    ``r = tf.random.normal(tf.shape(x))`` → ``model(x + r)``, then ``model(r)``.
    """
    source, name = case.source, case.finding.source
    made = source.bound_to(name) if name.isidentifier() else None
    block = block_of_call(source, case.trace, case.call)
    if block is None or not isinstance(made, cst.Call):
        return
    statement = source.statement_of(made)
    if statement is None:
        return
    later = [each for each in body_of(block) if source.line(each) > source.line(statement)]
    given = made.args[0].value if made.args else None
    if called_name(made) in _MAKING and isinstance(given, cst.Name):
        plan = Plan(source)
        if rename_reads(plan, given, name, later):
            title = f"Use {name} in place of {given.value}, which it was made from"
            yield from plan.edits(title, has_other_value=True)
        return
    for other in sorted(read_names(made) & {*_names_like(case, name)}):  # noise of its shape
        for new, title in (
            (f"{other} + {name}", f"Add {name} to {other}, whose shape it has"),
            (name, f"Use {name} in place of {other}, whose shape it has"),
        ):
            plan = Plan(source)
            for read in reads_of(source, cst.Name(other), later):
                plan.replace(read, fitting(source, read, cst.parse_expression(new)))
            yield from plan.edits(title, has_other_value=True)


_MAKING = ("constant", "convert_to_tensor", "Variable", "cast", "identity", "expand_dims")


def use_computed_again(case: FixCase) -> Iterator[Edit]:
    """A name from before the tape's block → the name that was given the same inside it.

    Where ``gradient`` asks for the old name itself, the new one is asked for: also of other
    numbers, if nothing up to there reads it.
    """
    source, evidence = case.source, case.cause.evidence
    again = evidence.again if isinstance(evidence, OutsideTape) else None
    made = source.statement(again.line) if again is not None else None
    asked = gradient_call(source, case.call)
    target = argument(asked, 0, "target")
    if again is None and target is not None and asked is not None:
        unread = _unread_in_block(case, asked, source.code(target))
        for name in unread if len(unread) == 1 else ():
            title = f"Ask for {name}, which this tape recorded and nothing uses"
            yield from Plan(source, {target: name}).edits(title, has_other_value=True)
    if again is None or made is None or again.name not in bound_names(made):
        return
    is_target = target is not None and source.code(target) == again.instead_of
    reads = reads_of(source, cst.Name(again.instead_of), list(source.after(made)))
    for read in [target] if target is not None and is_target else reads:
        title = f"Use {again.name} in place of {again.instead_of}: nothing uses {again.name}"
        yield from Plan(source, {read: again.name}).edits(title, has_other_value=True)


def _unread_in_block(case: FixCase, asked: cst.Call, target: str) -> list[str]:
    """The names of tensors like the target that the block of the tape binds, of which no line up to
    the gradient call reads anything; none if the block binds the target itself."""
    source, block = case.source, block_of_call(case.source, case.trace, case.call)
    bound = bound_names(block.node) if block is not None else set()
    if not target.isidentifier() or target in bound:
        return []
    before = [each for each in source.statements if source.line(each) < source.line(asked)]
    read = set().union(*(read_names(sole(each) or cst.Pass()) for each in before))
    return [name for name in _names_like(case, target) if name in bound and name not in read]


def _unused(case: FixCase) -> tuple[str, CstStatement | None]:
    """The name that the way from the source ends in, and the statement that binds it."""
    ends = _ends(case)
    name = ends.reaches
    if not name.isidentifier() or not ends.reaches_line or ends.fate == "asked":
        return "", None
    made = case.source.statement(ends.reaches_line)
    if made is not None and name in bound_names(made):
        return name, made
    # A function made it: the line is that of the op.
    lines = [each for each in case.source.statements if sole(each) and name in bound_names(each)]
    return name, lines[0] if len(lines) == 1 else None


def _ends(case: FixCase) -> Ends:
    evidence = case.cause.evidence
    known = evidence.ends if isinstance(evidence, NotConnected) else None
    return known or Ends()


def _names_like(case: FixCase, name: str) -> list[str]:
    """Names that were bound to tensors of the same dtype and shape before the call."""
    wanted = _forms(case, name)
    bound = {text for binding in case.trace.bindings for _, text in binding.tensors}
    names = filter(str.isidentifier, bound)
    return [other for other in sorted(names) if other != name and _forms(case, other) & wanted]


def _forms(case: FixCase, name: str) -> set[tuple[str, tuple[int | None, ...] | None]]:
    """The dtypes and shapes of the tensors that a name was bound to before the call, or above it:
    names in a function that is traced are noticed late."""
    known = [
        case.trace.tensors.get(tensor)
        for binding in case.trace.bindings
        if binding.when < case.call.when or binding.site.line < case.call.line
        for tensor, text in binding.tensors
        if text == name
    ]
    return {tensor.form for tensor in known if tensor is not None}


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, name, other).ratio()


def _added(case: FixCase, name: str, made: CstStatement) -> Iterator[Edit]:
    """``loss = mse`` → ``loss = mse + reg``, of two scalars."""
    source = case.source
    given = argument(gradient_call(source, case.call), 0, "target", "ys")
    target = case.call.targets[0] if len(case.call.targets) == 1 else None
    if given is None or not isinstance(given, cst.Name) or target is None:
        return
    forms = _forms(case, name)
    is_scalar = forms == _forms(case, target.text) and {shape for _, shape in forms} == {()}
    for statement in source.after(made) if is_scalar else ():
        small = sole(statement)
        if isinstance(small, cst.Assign) and small.targets[0].target.deep_equals(given):
            plan = Plan(source, {small.value: f"{source.operand(small.value)} + {name}"})
            title = f"Add {name} to {given.value}: nothing uses {name}"
            yield from plan.edits(title, has_other_value=True)


def ask_for_trainable(case: FixCase) -> Iterator[Edit]:
    """``model.variables``, ``layer.weights`` → ``trainable_variables``, which has no variables that
    keep state; also where the list has a name, and in ``zip`` with the gradients."""
    source, call = case.source, gradient_call(case.source, case.call)
    asked = argument(call, 1, "sources")
    variables = case.trace.variables.items()
    untrained = {id for id, variable in variables if not variable.trainable}
    shown = {each.tensor for each in case.call.sources if each.text == case.finding.source}
    if call is None or asked is None or untrained.isdisjoint(shown):
        return
    given, plan = source.value_of(asked), Plan(source)
    lists = {n.attr for n in all_of(given, cst.Attribute) if n.attr.value in _WITH_STATE}
    spelled = {source.code(node) for node in all_of(given, cst.Attribute) if node.attr in lists}
    for beside in all_of(source.function_of(call), cst.Call):
        if called_name(beside) == "zip":
            nodes = all_of(beside, cst.Attribute)
            lists |= {node.attr for node in nodes if source.code(node) in spelled}
    for name in lists:
        plan.replace(name, "trainable_variables")
    title = f"Ask for the trainable variables: {case.finding.source} is not trainable"
    yield from plan.edits(title, asks_fewer=True)


_WITH_STATE = ("variables", "weights")


def take_zeros(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, [a, b])`` → zeros for ``b``, where ``y`` is made from ``a`` alone.

    That is the derivative by what a target does not depend on (``tf.UnconnectedGradients``).
    """
    source, call = case.source, gradient_call(case.source, case.call)
    asked = {each.tensor for each in case.call.sources if each.text == case.finding.source}
    evidence = case.cause.evidence
    known = evidence if isinstance(evidence, NotConnected) else NotConnected(None)
    is_same_slope = isinstance(known.why, SameSlope)
    is_passed_by = known.branch is not None or isinstance(known.why, Shadowed)
    reads_variables = (bool(_ends(case).variables) or is_passed_by) and not asked.isdisjoint(
        case.trace.variables
    )
    is_unused = reads_variables or is_same_slope or evidence == NotConnected("statistics")
    place = {"gradient": 3, "jacobian": 2, "tf.gradients": 7}.get(case.call.method)
    if call is None or not is_unused or place is None:
        return
    if argument(call, place, "unconnected_gradients") is None:
        plan = Plan(source)
        given = source.code(call).rstrip()[:-1].rstrip().rstrip(",")
        plan.replace(call, f"{given}, unconnected_gradients={source.tf}.UnconnectedGradients.ZERO)")
        targets = ", ".join(target.text for target in case.call.targets) or "the target"
        title = (
            f"If {targets} should not depend on it: take zeros, its derivative, in place of None"
        )
        if is_same_slope:
            title = "Take zeros, the derivative of what is the same everywhere, in place of None"
        yield from plan.edits(title, gives_zeros=True)
        sources, code = argument(call, 1), source.code
        if sources is not None and len(call.args) == 2:
            # In a compiled function TensorFlow makes no zeros for a variable of Keras, only for the
            # tf.Variable in it (KerasVariable.value of the TensorFlow backend, Keras 3).
            values = _values_of(case, sources)
            zero = f"unconnected_gradients={source.tf}.UnconnectedGradients.ZERO"
            text = f"{code(call.func)}({code(call.args[0].value)}, {values}, {zero})"
            yield from Plan(source, {call: text}).edits(title, gives_zeros=True)


def _values_of(case: FixCase, sources: cst.BaseExpression) -> str:
    code = case.source.code
    if isinstance(sources, (cst.List, cst.Tuple)):
        return f"[{', '.join(f'{case.source.operand(e)}.value' for e in elements(sources))}]"
    if len(case.call.sources) == 1 and case.call.sources[0].text == code(sources):
        return f"{case.source.operand(sources)}.value"
    return f"[v.value for v in {code(sources)}]"


def swap(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(x, y)`` → ``tape.gradient(y, x)``."""
    call = gradient_call(case.source, case.call)
    if call is None or case.cause.evidence != NotConnected("swapped"):
        return
    target, asked = argument(call, 0, "target"), argument(call, 1, "sources")
    if target is not None and asked is not None:
        plan = Plan(case.source, {target: asked, asked: target})
        yield from plan.edits("Swap target and source", has_other_shape=True, has_other_value=True)


def ask_for_used(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(loss, w_old)`` → ``w``: a variable with a name like it that was used."""
    source, asked_text = case.source, case.finding.source
    asked = argument(gradient_call(source, case.call), 1, "sources")
    made_from = _ends(case).variables
    if asked is None or _ends(case).reaches:
        return
    places = [
        node
        for node in nodes_in(asked)
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))
        and source.code(node) == asked_text
    ]
    yield from _of_other_object(case, asked, made_from)
    given = {operand.text for operand in case.call.sources}
    others = [other for other in made_from if other not in given]
    for other in sorted(others, key=lambda text: -_likeness(asked_text, text)):
        if places and (len(made_from) == 1 or _likeness(asked_text, other) >= _ALIKE):
            title = f"Ask for {other}, which {case.target} was computed from"
            yield from Plan(source, {places[0]: other}).edits(title, has_other_shape=True)


def _of_other_object(
    case: FixCase, asked: cst.BaseExpression, made_from: Sequence[str]
) -> Iterator[Edit]:
    """``[b.w, b.h]`` → ``[a.w, a.h]``, the attributes of these names of an object that was used."""
    source = case.source
    owner, _, path = case.finding.source.partition(".")
    nodes = [node for node in nodes_in(asked) if isinstance(node, cst.Attribute)]
    for other in (name.removesuffix(f".{path}") for name in made_from if name.endswith(f".{path}")):
        plan, found = Plan(source), dict[str, None]()
        for node in nodes:
            text = source.code(node)
            used = f"{other}.{text.removeprefix(f'{owner}.')}"
            if text.startswith(f"{owner}.") and used in made_from:
                plan.replace(node, used)
                found[used] = None
        if path and other != owner and len(found) > 1:
            title = f"Ask for {', '.join(found)}, which {case.target} was computed from"
            yield from plan.edits(title, has_other_shape=True)
