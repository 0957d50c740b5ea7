"""Weigh the loss by the log-probability of a draw of whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from ..blocks import Block, block_of_call, body_of, target_name
from ..forms import match
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bare,
    bound_names,
    called_name,
    dotted,
    elements,
    enclosed,
    is_call_to,
)
from ..plan import Plan
from ..smooth.argmax import are_probabilities
from ..source import CstStatement, ParsedSource
from ..values.leaving import said_in_tensorflow
from .decoding import DECODERS, loss_of_sequences

_DRAWS = (
    *("categorical", "stateless_categorical", "choice", "choices", "multinomial", "poisson"),
    *("binomial", "stateless_poisson", "stateless_binomial"),
)
_CHOICES = ("argmax", "argmin", "argsort", *DECODERS)


def score_function(case: FixCase) -> Iterator[Edit]:
    """``loss = f(draw)`` → the same value, whose gradient is ``loss`` times that of ``log_p``.

    The gradient of an expected loss by the parameters of a draw is the expectation of the loss
    times the gradient of the log-probability of what was drawn (Williams 1992, REINFORCE).
    """
    title = "Estimate: the score function (REINFORCE), the loss times the gradient of log_p"
    yield from _weighed(case, _DRAWS, _keep_log_p, title)


def score_of_choice(case: FixCase) -> Iterator[Edit]:
    """As :func:`score_function`, for what ``tf.argmax`` or a decoder chose, where it leads to the
    cut: as if it had been drawn by the softmax of the scores. For any use of it, in Python too."""
    title = "Estimate: the score function (REINFORCE), as if what was chosen had been drawn"
    yield from _weighed(case, _CHOICES, _keep_chosen, title)


def _weighed(
    case: FixCase,
    names: tuple[str, ...],
    keep: Callable[[FixCase, Plan, CstStatement, cst.Call, str], None],
    title: str,
) -> Iterator[Edit]:
    """``keep``: add the log-probabilities of such a call by a statement of this form.

    They add up in a tensor, which a compiled loop carries. Functions that draw share a list with
    the block; a compiled one cannot, so then what it returns is weighed, in place of the loss.
    """
    source, tf = case.source, case.source.tf
    block = block_of_call(source, case.trace, case.call)
    loss = target_name(source, case.call)
    if block is None or not loss:
        return
    if not any(loss in bound_names(statement) for statement in body_of(block)):
        return
    draws = list(_draws(case, block, names))
    home = source.function_of(block.node)
    drawing = dict.fromkeys(source.function_of(statement) for statement, _ in draws)
    dtype, known = f"{tf}.{_dtype(case)}", _dtype_of_target(case)
    zero = "0.0" if dtype == f"{tf}.float32" else f"{tf}.zeros([], {dtype})"
    has_others = any(function is not home for function in drawing)
    for is_shared in (True, False) if has_others else (False,):
        plan = Plan(source)
        score, kept = plan.fresh_name("log_p"), plan.fresh_name("log_ps") if is_shared else ""
        for statement, call in draws:
            keep(
                case, plan, statement, call, f"{kept}.append({{}})" if kept else f"{score} += {{}}"
            )
        if not (plan.put_after or plan.put_before):
            return
        if kept:  # a function that draws finds the list among the names of the module
            nodes = (block.node, *(statement for statement, _ in draws))
            tops = [[each, *source.ancestors(each)][-2] for each in nodes]
            plan.before(min(tops, key=source.line), f"{kept} = []")
            if tops[0] is not block.node:
                plan.before(block.node, f"{kept}.clear()")
        elif home in drawing:
            plan.before(block.node, f"{score} = {zero}")
        for function in () if kept else drawing:
            if isinstance(function, cst.FunctionDef) and function is not home:
                begun = next(s for s, _ in draws if source.function_of(s) is function)
                top = next(s for s in function.body.body if s in (begun, *source.ancestors(begun)))
                plan.put_before.setdefault(top, []).insert(0, plan.parse(f"{score} = {zero}"))
                _weigh_returned(case, plan, function, score)
        if kept or home in drawing:
            total = f"{tf}.add_n({kept})" if kept else score
            if "int" in known:  # a count that was drawn has no slope by anything else, either
                plan.last(block.node, f"{loss} = {tf}.cast({loss}, {dtype})")
            plan.last(
                block.node,
                f"{score} = {tf}.cast({total}, {dtype})",
                f"{loss} = {_times_score(tf, loss, score)}",
            )
        yield from plan.edits(title, is_estimate=True)


def _times_score(tf: str, value: str, score: str) -> str:
    """The value itself, whose gradient is the value times that of the log-probability."""
    return f"{value} + {tf}.stop_gradient({value}) * ({score} - {tf}.stop_gradient({score}))"


def _weigh_returned(case: FixCase, plan: Plan, function: cst.FunctionDef, score: str) -> None:
    """Weigh what a function returns; of several results those that may be floats."""
    source, trace = case.source, case.trace
    floats = {
        name
        for binding in trace.bindings
        for tensor, name in binding.tensors
        if source.covers(function, binding.site.line)
        and tensor in trace.tensors
        and "float" in trace.tensors[tensor].dtype
    }
    for line in all_of(function, cst.Return):
        value = line.value if source.function_of(line) is function else None
        several = elements(value)
        for each in several or ([value] if value is not None else []):
            is_number = isinstance(each, cst.BaseNumber)
            if not several or dotted(each) in floats or not (dotted(each) or is_number):
                name = plan.named(each)
                plan.replace(each, _times_score(source.tf, name, score))


def _dtype(case: FixCase) -> str:
    known = _dtype_of_target(case)
    return known if "float" in known else "float32"


def _dtype_of_target(case: FixCase) -> str:
    target = case.call.targets[0].tensor if case.call.targets else None
    known = case.trace.tensors.get(target) if target is not None else None
    return known.dtype if known is not None else ""


def _draws(
    case: FixCase, block: Block, names: tuple[str, ...]
) -> Iterator[tuple[CstStatement, cst.Call]]:
    """Draws in the statements of the block, and in the functions that the cut is in."""
    source = case.source
    functions = (
        function
        for function in all_of(source.module, cst.FunctionDef)
        if any(source.covers(function, line) for line in case.lines())
    )
    for statement in dict.fromkeys(
        line
        for around in (block.node, *functions)
        for line in all_of(around.body, cst.SimpleStatementLine)
    ):
        for call in all_of(statement, cst.Call):
            if called_name(call) in names:
                yield statement, call


def _keep_log_p(
    case: FixCase, plan: Plan, statement: CstStatement, call: cst.Call, form: str
) -> None:
    """Add the log-probability of a draw, or of a list of such draws, where it is known."""
    source, around = plan.source, plan.source.parent(call)
    made = around if isinstance(around, cst.ListComp) else call
    target = source.target_of(made)
    if drawn_elements := _drawn_elements(case, plan, call):
        _keep_log_p_of_elements(plan, statement, call, form, drawn_elements)
        return
    drawn = target.value if isinstance(target, cst.Name) else plan.fresh_name("draw")
    formula, begun = _log_p(case, call, drawn), plan.statement_begun_by(made)
    note = form.format(f"{source.tf}.reduce_sum({formula})")
    if formula and isinstance(target, cst.Name):
        plan.after(statement, note)
    elif formula and begun is not None:
        plan.before(begun, f"{drawn} = {source.code(made)}", note)
        plan.replace(made, drawn)


@dataclass(frozen=True, slots=True)
class _Elements:
    """A draw of elements of a list, as code, that is a draw of their positions.

    ``first``: a statement that must stand before, or empty; ``name``: that of the positions, which
    ``draw`` gives; ``picked``: the elements at these.
    """

    first: str
    name: str
    draw: str
    picked: str
    log_p: str


def _drawn_elements(case: FixCase, plan: Plan, call: cst.Call) -> _Elements | None:
    """Draw positions in place of the elements of ``random.choices(names, weights=w, k=8)`` and of
    ``np.random.choice(names, p=p)``: the same random numbers draw the same elements."""
    source, tf = case.source, case.source.tf
    is_of_python = called_name(call) == "choices"
    if called_name(call) not in ("choice", "choices"):
        return None
    given = argument(call, 0, "a", "population")
    shares = argument(call, 1, "weights") if is_of_python else argument(call, 3, "p")
    if given is None or shares is None or (not is_of_python and _is_count(source, given)):
        return None
    if plan.statement_begun_by(call) is None:  # several draws, or perhaps none
        return None
    first, names = "", source.code(given)
    if not dotted(given):
        names = plan.fresh_name("elements")
        first = f"{names} = {source.code(bare(given))}"
    numbers = cst.parse_expression(f"range(len({names}))" if is_of_python else f"len({names})")
    args = [arg.with_changes(value=numbers) if arg.value is given else arg for arg in call.args]
    draw = source.code(call.with_changes(args=args))
    is_one = not is_of_python and argument(call, 1, "size") is None
    name = plan.fresh_name("position" if is_one else "positions")
    picked = f"{names}[{name}]" if is_one else f"[{names}[i] for i in {name}]"
    weights = bare(_in_tensorflow(case, _of_copies(shares)))
    p = source.code(weights)
    if is_of_python and not _is_softmax(source, weights):  # its weights may have any sum
        p = f"{source.operand(weights)} / {tf}.reduce_sum({p})"
    log_ps = _log_p_of_positions(source, call, p, name)
    return _Elements(first, name, draw, picked, f"{tf}.reduce_sum({log_ps})") if log_ps else None


def _log_p_of_positions(source: ParsedSource, call: cst.Call, p: str, drawn: str) -> str:
    """The log-probabilities of the positions ``drawn`` [n] by ``np.random.choice`` and the like.

    Without replacement each is drawn of what those before it left (Plackett 1975, "The analysis of
    permutations"); empty where it is not known in which order several rows of these were drawn.
    """
    tf, size = source.tf, argument(call, 1, "size")
    again = argument(call, 2, "replace") if called_name(call) == "choice" else None
    if again is None or size is None or source.code(again) == "True":
        return f"{tf}.gather({tf}.math.log({p}), {drawn})"
    if isinstance(size, (cst.Tuple, cst.List)):
        return ""
    q = f"{tf}.gather({p}, {drawn})"
    return f"{tf}.math.log({q}) - {tf}.math.log(1.0 - {tf}.cumsum({q}, exclusive=True))"


def _of_copies(node: cst.BaseExpression) -> cst.BaseExpression:
    """``p`` of ``[float(x) for x in p]``, else the expression."""
    made = node.elt if isinstance(node, cst.ListComp) else None
    if not isinstance(node, cst.ListComp) or not isinstance(made, cst.Call) or len(made.args) != 1:
        return node
    is_copied = made.args[0].value.deep_equals(node.for_in.target)
    return node.for_in.iter if dotted(made.func) == "float" and is_copied else node


def _is_softmax(source: ParsedSource, node: cst.BaseExpression) -> bool:
    return is_call_to(source.value_of(node), "softmax")


def _keep_log_p_of_elements(
    plan: Plan, statement: CstStatement, call: cst.Call, form: str, elements: _Elements
) -> None:
    steps = (
        *([elements.first] if elements.first else []),
        f"{elements.name} = {elements.draw}",
        form.format(elements.log_p),
    )
    plan.before(statement, *steps)
    plan.replace(call, elements.picked)


def _keep_chosen(
    case: FixCase, plan: Plan, statement: CstStatement, call: cst.Call, form: str
) -> None:
    """Add the log-probability of a choice, if the cut is of it or of what is made of it."""
    source, tf = plan.source, plan.source.tf
    at_cut = [place for line in case.lines() if (place := source.statement(line)) is not None]
    if not any(source.leads_to(place, call) for place in at_cut):
        return
    if called_name(call) in DECODERS:
        for decoded in elements(source.target_of(call))[:1]:
            sequences = f"{source.code(decoded)}[0]"
            loss = loss_of_sequences(source, call, sequences)
            plan.after(statement, form.format(f"-{tf}.reduce_sum({loss})"))
        return
    scores, axis = argument(call, 0, "input", "a", "values"), argument(call, 1, "axis")
    at_end = {"argmax": "-1", "argmin": "0"}.get(called_name(call)) or _end_taken(source, call)
    if scores is None or not at_end or plan.statement_begun_by(call) is None:
        return
    axis_code = source.code(axis) if axis is not None else "0"
    along = f", axis={axis_code}"
    code = source.operand(_in_tensorflow(case, scores))
    if axis is None and source.code(call.func).startswith(f"{source.np}."):
        code = f"{tf}.reshape({code}, [-1])"
    if at_end == "0":
        code = f"-{code}"
    log_p = f"{tf}.nn.log_softmax({code}{along})"
    if are_probabilities(case, call) and at_end == "-1":
        log_p = f"{tf}.math.log({code})"
    chances = plan.fresh_name("log_ps_of_all")
    first = f"{tf}.argmax({chances}{along})"  # of several that are as large, as it was chosen
    largest = f"{tf}.one_hot({first}, {tf}.shape({chances})[{axis_code}]{along})"
    plan.before(
        statement,
        f"{chances} = {log_p}",
        form.format(f"{tf}.reduce_sum({chances} * {largest})"),
    )


def _end_taken(source: ParsedSource, call: cst.Call) -> str:
    """``-1`` of ``np.argsort(x)[-1]``, the largest of a row; ``0`` for the smallest; or empty."""
    is_plain, above = len(call.args) == 1, source.parent(call)
    taken = [end for end in ("-1", "0") if is_plain and match(above, f"_v[{end}]")]
    return "".join(taken)


def _log_p(case: FixCase, call: cst.Call, drawn: str) -> str:
    """The log-probabilities of the numbers drawn: ``logits`` [batch, classes] for
    ``tf.random.categorical``, ``p`` [classes] for ``np.random.choice``."""
    source, tf = case.source, case.source.tf
    if called_name(call) in ("choice", "choices"):
        p, numbers = argument(call, 3, "p"), argument(call, 0, "a")
        if p is None or numbers is None or not _is_count(source, numbers):
            return ""
        shares = source.code(bare(_in_tensorflow(case, p)))
        return _log_p_of_positions(source, call, shares, drawn)
    if called_name(call) == "multinomial":  # of NumPy, which gives a count for each outcome
        p = argument(call, 1, "pvals")
        if p is None or source.code(call.func).startswith(f"{tf}."):
            return ""
        return f"{tf}.math.log({source.code(bare(_in_tensorflow(case, p)))}) * {drawn}"
    if called_name(call).removeprefix("stateless_") in ("poisson", "binomial"):
        return _log_p_of_count(case, call, drawn)
    logits = argument(call, 0, "logits")
    if logits is None:
        return ""
    probabilities = f"{tf}.nn.log_softmax({source.code(logits)})"
    return f"{tf}.gather({probabilities}, {drawn}, batch_dims=1)"


def _log_p_of_count(case: FixCase, call: cst.Call, drawn: str) -> str:
    """The part of the log-probability that depends on the parameter: of ``np.random.poisson(lam)``,
    ``tf.random.poisson(shape, lam)``, ``np.random.binomial(n, p)``, and of those with a seed,
    ``tf.random.stateless_binomial(shape, seed, counts, probs)``."""
    source, tf = case.source, case.source.tf
    k = f"{tf}.cast({drawn}, {tf}.float32)"
    is_of_tf = source.code(call.func).startswith(f"{tf}.")
    is_stateless = called_name(call).startswith("stateless_")
    before = 2 if is_stateless else 1 if is_of_tf else 0
    if called_name(call).endswith("poisson"):
        rate = argument(call, before, "lam")
        if rate is None:
            return ""
        lam = source.code(_in_tensorflow(case, rate))
        return f"{k} * {tf}.math.log({lam}) - {lam}"
    trials = argument(call, before, "n", "counts")
    probability = argument(call, before + 1, "p", "probs")
    if trials is None or probability is None:
        return ""
    n, p = (source.code(_in_tensorflow(case, each)) for each in (trials, probability))
    return f"{k} * {tf}.math.log({p}) + ({n} - {k}) * {tf}.math.log(1.0 - {p})"


def _is_count(source: ParsedSource, node: cst.BaseExpression) -> bool:
    """Whether numbers from 0 on are drawn, rather than elements of an array."""
    if isinstance(node, cst.Name):
        return isinstance(source.bound_to(node), cst.Integer)
    is_length = is_call_to(node, "len")
    is_part = isinstance(node, cst.Subscript) and source.code(node.value).endswith(".shape")
    return isinstance(node, cst.Integer) or is_length or is_part


def _in_tensorflow(case: FixCase, node: cst.BaseExpression) -> cst.BaseExpression:
    """Said in TensorFlow, with what made a name of it that left in place of the name."""
    plan = Plan(case.source)
    for name in all_of(node, cst.Name) if _has_left(case.source, node) else ():
        made = case.source.bound_to(name)
        if made is not None and _has_left(case.source, made):
            plan.replace(name, enclosed(_in_tensorflow(case, made)))
    return enclosed(said_in_tensorflow(case, node, plan))


def _has_left(source: ParsedSource, node: cst.BaseExpression) -> bool:
    return any(is_call_to(c, "numpy") for c in source.behind(node))
