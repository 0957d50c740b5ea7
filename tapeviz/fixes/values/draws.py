"""Weigh the loss by the log-probability of a draw of whole numbers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..blocks import Block, block_of_call, body_of, target_name
from ..model import Edit, FixCase
from ..plan import Plan, enclosed
from ..source import ParsedSource, Statement, all_of, argument, bound_names, called_name, sole

_DRAWS = (
    *("categorical", "stateless_categorical", "choice", "poisson", "binomial"),
    *("stateless_poisson", "stateless_binomial"),
)


def score_function(case: FixCase) -> Iterator[Edit]:
    """``loss = f(draw)`` → the same value, whose gradient is ``loss`` times that of ``log_p``.

    The gradient of an expected loss by the parameters of a draw is the expectation of the loss
    times the gradient of the log-probability of what was drawn (Williams 1992, REINFORCE).
    """
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    loss = target_name(source, case.call)
    if block is None or not loss:
        return
    if not any(loss in bound_names(statement) for statement in body_of(block)):
        return
    plan = Plan(source)
    names = [name for draw in _draws(block) if (name := _put_log_p(plan, draw, block))]
    if names:
        score = source.free_name("log_p") if len(names) > 1 else names[0]
        if len(names) > 1:
            plan.last(block.node, f"{score} = {' + '.join(names)}")
        tf = source.tf
        weighed = f"{tf}.stop_gradient({loss}) * ({score} - {tf}.stop_gradient({score}))"
        plan.last(block.node, f"{loss} = {loss} + {weighed}")
        title = "Estimate: the score function (REINFORCE), the loss times the gradient of log_p"
        yield Edit(title, plan.text(), is_estimate=True)


def _draws(block: Block) -> Iterator[tuple[Statement, cst.Call]]:
    """Draws in the statements of the block itself, not in its loops and branches."""
    for statement in body_of(block):
        if isinstance(statement, cst.SimpleStatementLine):
            for call in all_of(statement, cst.Call):
                if called_name(call) in _DRAWS:
                    yield statement, call


def _put_log_p(plan: Plan, draw: tuple[Statement, cst.Call], block: Block) -> str:
    """The name that the log-probability of a draw has now; empty where it is not known."""
    source, tf = plan.source, plan.source.tf
    statement, call = draw
    small = sole(statement)
    is_named = isinstance(small, cst.Assign) and small.value is call
    target = small.targets[0].target if isinstance(small, cst.Assign) and is_named else None
    drawn = target.value if isinstance(target, cst.Name) else source.free_name("draw")
    formula = _log_p(source, call, drawn)
    if not formula:
        return ""
    # ``log_p``, or ``log_p2`` for the second draw.
    name = plan.source.free_name("log_p")
    name = name if not plan.put_after else f"{name}{len(plan.put_after) + 1}"
    if not isinstance(target, cst.Name):
        plan.before(statement, f"{drawn} = {source.code(call)}")
        plan.replace(call, drawn)
    plan.after(statement, f"{name} = {tf}.reduce_sum({formula})")
    return name


def _log_p(source: ParsedSource, call: cst.Call, drawn: str) -> str:
    """The log-probabilities of the numbers drawn: ``logits`` [batch, classes] for
    ``tf.random.categorical``, ``p`` [classes] for ``np.random.choice``."""
    tf = source.tf
    if called_name(call) == "choice":
        p, numbers = argument(call, 3, "p"), argument(call, 0, "a")
        if p is None or numbers is None or not _is_count(source, numbers.value):
            return ""
        return f"{tf}.gather({tf}.math.log({source.code(_in_tensorflow(p.value))}), {drawn})"
    if called_name(call).removeprefix("stateless_") in ("poisson", "binomial"):
        return _log_p_of_count(source, call, drawn)
    logits = argument(call, 0, "logits")
    if logits is None:
        return ""
    probabilities = f"{tf}.nn.log_softmax({source.code(logits.value)})"
    return f"{tf}.gather({probabilities}, {drawn}, batch_dims=1)"


def _log_p_of_count(source: ParsedSource, call: cst.Call, drawn: str) -> str:
    """The part of the log-probability that depends on the parameter: of ``np.random.poisson(lam)``,
    ``tf.random.poisson(shape, lam)``, ``np.random.binomial(n, p)``, and of those with a seed,
    ``tf.random.stateless_binomial(shape, seed, counts, probs)``."""
    tf, k = source.tf, f"{source.tf}.cast({drawn}, {source.tf}.float32)"
    is_of_tf = source.code(call.func).startswith(f"{tf}.")
    is_stateless = called_name(call).startswith("stateless_")
    before = 2 if is_stateless else 1 if is_of_tf else 0
    if called_name(call).endswith("poisson"):
        rate = argument(call, before, "lam")
        if rate is None:
            return ""
        lam = source.code(enclosed(_in_tensorflow(rate.value)))
        return f"{k} * {tf}.math.log({lam}) - {lam}"
    trials = argument(call, before, "n", "counts")
    probability = argument(call, before + 1, "p", "probs")
    if trials is None or probability is None:
        return ""
    n, p = (source.code(enclosed(_in_tensorflow(arg.value))) for arg in (trials, probability))
    return f"{k} * {tf}.math.log({p}) + ({n} - {k}) * {tf}.math.log(1.0 - {p})"


def _is_count(source: ParsedSource, node: cst.BaseExpression) -> bool:
    """Whether numbers from 0 on are drawn, rather than elements of an array."""
    if isinstance(node, cst.Name):
        bound = source.bound_to(node)
        return isinstance(bound, cst.Integer)
    is_length = isinstance(node, cst.Call) and called_name(node) == "len"
    is_part = isinstance(node, cst.Subscript) and source.code(node.value).endswith(".shape")
    return isinstance(node, cst.Integer) or is_length or is_part


def _in_tensorflow(node: cst.BaseExpression) -> cst.BaseExpression:
    """Without ``.numpy()``."""
    for call in all_of(node, cst.Call):
        if called_name(call) == "numpy" and isinstance(call.func, cst.Attribute):
            inside = enclosed(call.func.value)
            if call is node:
                return inside
            changed = node.deep_replace(call, inside)
            assert isinstance(changed, cst.BaseExpression)
            return _in_tensorflow(changed)
    return node
