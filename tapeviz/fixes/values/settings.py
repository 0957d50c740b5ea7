"""Compute by tensors where a layer or a regularizer was made with a plain number."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import without_exit

_LEAKY = "{tf}.maximum({x}, 0.0) + {a} * {tf}.minimum({x}, 0.0)"
_SQUARES = "{a} * {tf}.reduce_sum({tf}.square({x}))"
_ABSOLUTE = "{a} * {tf}.reduce_sum({tf}.abs({x}))"
# What an object of the class computes of x, and the keywords of the number a that it takes first.
_CLASSES = {
    "LeakyReLU": (_LEAKY, ("negative_slope", "alpha")),
    "ELU": (
        "{tf}.where({x} > 0.0, {x}, {a} * {tf}.math.expm1({tf}.minimum({x}, 0.0)))",
        ("alpha",),
    ),
    "L2": (_SQUARES, ("l2",)),
    "l2": (_SQUARES, ("l2", "l")),
    "L1": (_ABSOLUTE, ("l1",)),
    "l1": (_ABSOLUTE, ("l1", "l")),
    "GaussianNoise": ("{x} + {a} * {tf}.random.normal({tf}.shape({x}))", ("stddev",)),
    "Rescaling": ("{a} * {x}", ("scale",)),
}


def compute_by_hand(case: FixCase) -> Iterator[Edit]:
    """``layers.LeakyReLU(float(a))(x)`` → ``tf.maximum(x, 0.0) + a * tf.minimum(x, 0.0)``.

    Keras keeps such settings as plain numbers, which no gradient can reach.
    """
    source = case.source
    plan = Plan(source)
    names: list[str] = []
    for made in case.calls(*_CLASSES, "leaky_relu"):
        name = called_name(made)
        is_function = name == "leaky_relu"
        form, keywords = _CLASSES["LeakyReLU" if is_function else name]
        given = argument(made, int(is_function), *keywords)
        number = without_exit(given) if given is not None else None
        if given is None or number is None or number is given:
            continue
        for call in [made] if is_function else _uses(source, made):
            if not call.args:
                continue
            x, a = (source.operand(node) for node in (call.args[0].value, number))
            text = form.format(tf=source.tf, x=x, a=a)
            plan.replace(call, text)
            names.append(name)
    if names:
        title = f"Compute what {names[0]} does with tensors: Keras keeps its setting as a number"
        yield from plan.edits(title)


def _uses(source: ParsedSource, made: cst.Call) -> Iterator[cst.Call]:
    """Calls of the object: ``C(a)(x)``, or by the name that it is bound to."""
    assign = source.parent(made)
    names = {dotted(t.target) for t in assign.targets} if isinstance(assign, cst.Assign) else set()
    for call in all_of(source.module, cst.Call):
        if call.func is made or (names - {""} and dotted(call.func) in names):
            yield call
