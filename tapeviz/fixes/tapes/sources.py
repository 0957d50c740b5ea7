"""Ask for the tensor that was used, in the place of a source that was not."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ...analysis.causes.tapes.replaced_source import ReplacedSource
from ...text.called_names import VARIABLE_LISTS
from ...trace.calls import Operand
from ...trace.ids import TensorId
from ..blocks import block_of_call, body_of, gradient_call, is_method_statement
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, elements, header_nodes, sole
from ..plan import Plan
from ..renaming import rename_reads
from ..source import CstStatement, ParsedSource


def ask_for_original(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, copy)`` → the gradient of what it is a copy, or a slice, of."""
    source = case.source
    call = gradient_call(source, case.call)
    asked = argument(call, 1, "sources")
    originals = [_original(case, each) for each in case.call.sources]
    if call is None or asked is None or case.cause.evidence != ReplacedSource("copy"):
        return
    if len(originals) > 1 and all(originals):
        wholes = {name.partition("[")[0] for name in originals}
        whole = wholes.pop() if len(wholes) == 1 else ""
        is_begin = originals == [f"{whole}[{i}]" for i in range(len(originals))]
        beyond = f"{whole}[{len(originals)}]"
        is_list = is_begin and not any(beyond in names for names in case.trace.names.values())
        plan, new = Plan(source), whole if is_list else f"[{', '.join(originals)}]"
        plan.replace(asked, new)
        yield from plan.edits(f"Ask for {new}, which {case.target} was computed from")
        return
    shown = (each for each in case.call.sources if each.text == case.finding.source)
    original = _original(case, next(shown, None))
    if not original:
        return
    if isinstance(asked, (cst.Name, cst.Attribute, cst.Call)):
        small = sole(source.statement(case.cause.line))
        made = small.value if isinstance(small, cst.Assign) else None
        plan = Plan(source, {asked: original})
        if isinstance(made, cst.Subscript) and source.code(made.value) == original:
            part = source.code(made)[len(original) :]
            title = f"Ask for the gradient of {original}, and slice the result"
            for whole in ("{}", f"{source.tf}.convert_to_tensor({{}})"):  # of IndexedSlices
                plan.replace(
                    call,
                    lambda old, whole=whole: cst.parse_expression(  # type: ignore[misc]
                        f"{whole.format(source.code(old))}{part}"
                    ),
                )
                yield from plan.edits(title, parts=(part,))
            return
        title = f"Ask for {original}, which {case.target} was computed from"
        yield from plan.edits(title, has_other_shape=True)


def ask_for_bound(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(y, tf.split(x, 2)[0])`` → ``parts[0]``, after ``parts = tf.split(x, 2)``."""
    source = case.source
    asked = argument(gradient_call(source, case.call), 1, "sources")
    if asked is None or case.cause.evidence != ReplacedSource("copy"):
        return
    plan = Plan(source)
    for assign in all_of(source.module, cst.Assign):
        name = assign.targets[0].target
        for node in all_of(asked, type(assign.value)) if isinstance(name, cst.Name) else ():
            if node.deep_equals(assign.value) and isinstance(node, (cst.Call, cst.Subscript)):
                plan.replace(node, source.code(name))
    yield from plan.edits("Ask for what the target was computed with, by its name")


def ask_for_called(case: FixCase) -> Iterator[Edit]:
    """``second.trainable_variables``, one of them, or a list by its name → the weights of what the
    tape's block calls; or else ``second`` is called in place of its twin, a target network. That
    comes first where the text names the list elsewhere, as in ``apply_gradients``: those weights
    are meant. A network that was called before the block, as a target network is, stays there: the
    weights of its twin are asked for."""
    source = case.source
    call = gradient_call(source, case.call)
    asked = argument(call, 1, "sources")
    block = block_of_call(source, case.trace, case.call)
    if asked is None or block is None:
        return
    given, attribute, owner, part = asked, "trainable_variables", "", ""
    listed = source.value_of(given)
    if isinstance(listed, cst.Subscript):
        part = source.code(listed).removeprefix(source.code(listed.value))
        listed = listed.value
    if isinstance(listed, cst.Attribute) and listed.attr.value in VARIABLE_LISTS:
        owner, attribute = dotted(listed.value), listed.attr.value
    elif not isinstance(given, cst.Name) or case.finding.source == given.value:
        return
    inside = all_of(block.node.body, cst.Call)
    called = dict.fromkeys(dotted(call.func) for call in inside)
    alike = (node.deep_equals(given) for node in all_of(source.module, type(given)))
    is_meant = sum(alike) > 1
    is_outside = isinstance(case.cause.evidence, OutsideTape)
    for name in called:
        root = name.split(".")[0]
        is_asked = name == owner and listed is given  # not one that was listed before
        if not name or is_asked or root in (source.tf, source.np, block.name, *dir(builtins)):
            continue
        are_twins = owner and owner not in called and _are_twins(source, owner, name)
        if is_outside and not are_twins:
            continue
        plan = Plan(source, {given: f"{name}.{attribute}{part}"})
        title = f"Ask for the variables of {name}, which {case.target} was computed with"
        edits = [Edit(title, plan.text(), has_other_shape=True)]
        if are_twins and not is_outside:
            plan, calls = Plan(source), [call for call in inside if dotted(call.func) == name]
            free = [call for call in calls if not _is_only_bounding(source, call)]
            for call in free or calls:
                plan.replace(call.func, owner)
            title = f"Call {owner}, which the gradient is asked for, in place of {name}"
            edits.insert(0 if is_meant else 1, Edit(title, plan.text(), has_other_value=True))
        yield from edits


def _is_only_bounding(source: ParsedSource, call: cst.Call) -> bool:
    """Whether the result, also by its name, is taken by ``reduce_max`` or ``stop_gradient`` alone,
    as a target network's is (Mnih et al. 2015)."""
    assign, uses = source.parent(call), [call]
    if isinstance(assign, cst.Assign):
        reads = all_of(source.function_of(call), cst.Name)
        uses = [name for name in reads if source.is_bound_to(name, call)]  # type: ignore[misc]
    takers = [
        {called_name(above) for above in source.ancestors(use) if isinstance(above, cst.Call)}
        for use in uses
    ]
    return bool(takers) and all(names & {"reduce_max", "stop_gradient"} for names in takers)


def _are_twins(source: ParsedSource, name: str, other: str) -> bool:
    """Whether both were made by a call of the same, or one from the other (``clone_model(q)``)."""
    made = [source.bound_to(each) for each in (name, other)]
    first, second = (each if isinstance(each, cst.Call) else None for each in made)
    if first is None or second is None:
        return False
    arguments = (source.code(arg.value) for call in (first, second) for arg in call.args)
    return first.func.deep_equals(second.func) or bool({name, other} & set(arguments))


def compute_once(case: FixCase) -> Iterator[Edit]:
    """``p = head(base(x))``, ``conv = base(x)`` → ``conv = base(x)``, ``p = head(conv)``."""
    source = case.source
    made = source.statement(case.cause.line)
    small = sole(made)
    if made is None or not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return
    if not is_computed_again(case):
        return
    yield from _join_outputs(case, made, small)
    name = source.code(small.targets[0].target)
    following = set(source.after(made))
    after = (s for s in source.statements if following & {s, *source.ancestors(s)})
    for other in (*source.before(made), *after):
        again = [
            node
            for node in header_nodes(other, type(small.value))
            if node.deep_equals(small.value) and not isinstance(node, cst.Name)
        ]
        if again and not isinstance(other, (cst.FunctionDef, cst.ClassDef)):
            plan = Plan(source)
            for node in again:
                plan.replace(node, name)
            if other in source.before(made):
                plan.before(other, made)
                plan.remove(made)
            yield from plan.edits(f"Compute {name} once, and use it on line {source.line(other)}")


def is_computed_again(case: FixCase) -> bool:
    """Whether the source has the numbers that the target was computed from, in another tensor."""
    evidence = case.cause.evidence
    return isinstance(evidence, ReplacedSource) and evidence.how == "computed-again"


def _join_outputs(case: FixCase, made: CstStatement, first: cst.Assign) -> Iterator[Edit]:
    """``features, _ = model(x)`` before the block, ``_, scores = model(x)`` in it → one call in the
    block, which gives both."""
    source, block = case.source, block_of_call(case.source, case.trace, case.call)
    outputs = _outputs(source, first)
    for other in body_of(block) if block is not None else ():
        again = sole(other)
        if not isinstance(again, cst.Assign) or not again.value.deep_equals(first.value):
            continue
        pairs = list(zip(outputs, _outputs(source, again), strict=False))
        if len(pairs) < 2 or any("_" not in pair for pair in pairs):
            continue
        names = [a if b == "_" else b for a, b in pairs]
        plan = Plan(source)
        joined = cst.parse_expression(", ".join(names))
        plan.replace(again.targets[0].target, lambda _, joined=joined: joined)  # type: ignore[misc]
        plan.remove(made)
        for statement in body_of(block) if block is not None else ():
            if is_method_statement(statement, block.name if block else "", "watch"):
                plan.remove(statement)  # it would come too early, and what is computed is recorded
        yield from plan.edits("Compute all outputs by one call, in the tape's block")


def _outputs(source: ParsedSource, assign: cst.Assign) -> list[str]:
    """The names of ``a, b = …``."""
    return [*map(source.code, elements(assign.targets[0].target))]


def _original(case: FixCase, source: Operand | None) -> str:
    """The name of the tensor or variable that a source is a copy of."""
    trace = case.trace
    maker = trace.maker(source.tensor) if source is not None else None
    for tensor in maker.inputs if maker is not None else ():
        read = trace.reads.get(tensor)
        names = trace.names.get(TensorId(read.variable) if read is not None else tensor, ())
        if names:
            return names[0]
    return ""


def use_copy_inside(case: FixCase) -> Iterator[Edit]:
    """``part = x[0]`` made before or after the block: make it inside, and compute with it."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    made = source.statement(case.cause.line)
    small = sole(made)
    if case.cause.evidence != ReplacedSource("copy") or block is None or made is None:
        return
    if not isinstance(small, cst.Assign) or not isinstance(small.value, cst.Subscript):
        return
    if source.beside(made, block.node) in (None, block.node):
        return
    plan = Plan(source)
    if rename_reads(plan, small.value, case.finding.source, [block.node.body]):
        plan.remove(made)
        plan.first(block.node, made)
        yield from plan.edits(f"Compute with {case.finding.source} in the tape's block")
