"""``custom-gradient``: a ``tf.custom_gradient`` function gave None, or was never asked."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import ClassVar

from ....text.source import SourceText
from ....trace.ops import Op
from ...findings import Cause, Evidence
from ..questions import EdgeUnderTest, MadeZero


@dataclass(frozen=True, slots=True)
class CustomGradient(Evidence):
    """The function of a custom gradient gave None or zeros. ``function``: its name;
    ``is_captured``: the value was no argument of it; ``gave_zeros``: in place of None."""

    kind: ClassVar[str] = "custom-gradient"
    function: str
    is_captured: bool = False
    gave_zeros: bool = False

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        name = self.function
        if self.is_captured:
            return (
                f"{name} defines its own gradient, and it uses {source}, or a tensor made from it, "
                f"that is not one of its arguments. TensorFlow asks such a function for the "
                f"gradients of its arguments and variables only. Make it an argument of {name}."
            )
        if self.gave_zeros:
            return (
                f"The gradient function of {name} (line {cause.line}) was given a gradient and "
                f"{cause.probably}gave zeros for this input. TensorFlow uses what that function "
                f"returns without a check. "
                f"Look at what it multiplies by or clips."
            )
        return (
            f"The tf.custom_gradient function {name} gave None for this input (line {cause.line}). "
            f"TensorFlow uses what that function returns without a check. "
            f"Return a gradient for every input that should have one."
        )


def captured(asked: EdgeUnderTest) -> Cause | None:
    """A custom gradient is asked for the gradients of its arguments and variables alone."""
    edge, op = asked.edge, asked.op
    if op is None or edge.kind != "captured":
        return None
    evidence = CustomGradient(op.function, is_captured=True)
    return asked.facts.cause(evidence, op.function_line or op.line, edge)


def gave_none(asked: EdgeUnderTest) -> Cause | None:
    """The gradient function that the snippet wrote gave None for this input."""
    facts, op = asked.facts, asked.op
    if op is None or not (op.is_custom_gradient and asked.gave_none):
        return None
    line = gradient_return_line(facts.text, op) or op.line
    return facts.cause(CustomGradient(op.function), line, asked.edge)


def gave_zeros(zero: MadeZero) -> Cause | None:
    """The gradient function that the snippet wrote was given a gradient, and gave zeros."""
    facts, op = zero.facts, zero.suspect or zero.op
    if op is None or not op.is_custom_gradient:
        return None
    if zero.step is None and zero.suspect is None:
        return None
    line = gradient_return_line(facts.text, op)
    if not line:
        return None
    cause = facts.cause(CustomGradient(op.function, gave_zeros=True), line)
    return replace(cause, is_probable=zero.suspect is not None)


def gradient_return_line(text: SourceText, op: Op) -> int:
    """Where the gradient function inside a ``custom_gradient`` function returns; 0 unknown.

    Its ``return``, or the lambda that it is.
    """
    for node in text.nodes:
        if isinstance(node, ast.FunctionDef) and node.name == op.function:
            below = [below_node for statement in node.body for below_node in ast.walk(statement)]
            inner = [function for function in below if isinstance(function, ast.FunctionDef)]
            returns = [
                r for function in inner for r in ast.walk(function) if isinstance(r, ast.Return)
            ]
            lambdas = [found for found in below if isinstance(found, ast.Lambda)]
            last = (returns or lambdas or [node])[-1]
            return last.lineno
    return op.function_line
