"""Find what the snippet calls an op, by its line and type.

Where the columns of a call are known, :meth:`SourceText.words_at` says more. Python before 3.11
tells none, and neither does AutoGraph for code inside a ``tf.function``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from .source import SourceText, is_given_lambda
from .trees import lines_of

_FRIENDLY = {
    "BatchMatMul": "MatMul",
    "ReadVariableOp": "Read",
    "RealDiv": "Div",
    "ResourceGather": "Gather",
    "SelectV2": "Where",
    "Select": "Where",
    "SoftmaxCrossEntropyWithLogits": "SoftmaxCrossEntropy",
    "SparseSoftmaxCrossEntropyWithLogits": "SparseSoftmaxCrossEntropy",
    "PartitionedCall": "function",
    "StatefulPartitionedCall": "function",
    "StatelessIf": "If",
    "StatelessCase": "Case",
    "RandomStandardNormal": "RandomNormal",
    "StatelessRandomNormal": "RandomNormal",
    "StatelessRandomUniform": "RandomUniform",
}
_VERSION_SUFFIX = re.compile(r"V\d+$")
_COMPILED = re.compile(
    r"^(?P<kinds>(?:__(?:inference|forward|backward)_)+)(?P<name>.+?)_\d+(?:_.*)?$"
)
# Types whose Python name is another one (TensorFlow 2.15 to 2.21).
_NAMES = {
    **{kind: f"reduce_{kind}" for kind in ("sum", "mean", "prod", "max", "min", "all", "any")},
    "select": "where",
    "pack": "stack",
    "unpack": "unstack",
    "multinomial": "categorical",
    "realdiv": "divide",
    "div": "divide",
    "add": "add",
    "mul": "multiply",
    "sub": "subtract",
    "batchmatmul": "matmul",
    "leakyrelu": "leaky_relu",
    "neg": "negative",
    "rint": "round",
    "lowerbound": "searchsorted",
    "upperbound": "searchsorted",
    "densebincount": "bincount",
    "selfadjointeig": "eigh",
    "matrixinverse": "inv",
    "matrixdeterminant": "det",
    "eagerpyfunc": "py_function",
    "matrixsolve": "solve",
    "pyfunc": "numpy_function",
    "pyfuncstateless": "numpy_function",
    "tensorscatterupdate": "tensor_scatter_nd_update",
    "statelessmultinomial": "stateless_categorical",
    "statelessrandomnormal": "stateless_normal",
    "statelessrandomuniform": "stateless_uniform",
    "stringtonumber": "to_number",
}
_OPERATORS: dict[str, type[ast.operator] | type[ast.cmpop]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "realdiv": ast.Div,
    "div": ast.Div,
    "floordiv": ast.FloorDiv,
    "floormod": ast.Mod,
    "pow": ast.Pow,
    "matmul": ast.MatMult,
    "batchmatmul": ast.MatMult,
    "greater": ast.Gt,
    "greaterequal": ast.GtE,
    "less": ast.Lt,
    "lessequal": ast.LtE,
    "equal": ast.Eq,
    "notequal": ast.NotEq,
}
_LONGEST = 30


def function_words(name: str) -> str:
    """The name of a compiled function, ``∂f`` of the backward pass that TensorFlow made for one."""
    compiled = _COMPILED.match(name)
    return "∂" * compiled["kinds"].count("backward") + compiled["name"] if compiled else name


def friendly(op_type: str) -> str:
    """A short name of an op type: ``AddV2`` → ``Add``, ``__inference_f_12`` → ``f``,
    ``__forward___backward_f_12_34`` → ``∂f``."""
    if op_type.startswith("__"):
        return function_words(op_type)
    plain = _VERSION_SUFFIX.sub("", op_type) or op_type
    return _FRIENDLY.get(op_type) or _FRIENDLY.get(plain, plain)


@lru_cache(maxsize=1024)
def words_on_line(text: SourceText, line: int, op_type: str, path: str = "") -> str:
    """The expression on a line that made an op: ``tf.argmax`` for an ``ArgMax``, ``x > 2.0`` for a
    ``Greater``. Empty if none may have made it, or several that read differently.

    ``path``: the op's name with its scopes. Functions of several ops open a scope by their name:
    ``clip_by_value/Minimum``, and ``clip_by_value`` for the ``Maximum`` that is its last op
    (TensorFlow 2.15 to 2.21). A function that is given a lambda (``tf.cond``) opens its scope also
    for the ops of the lambda, which are not its own.
    """
    kind = re.sub(r"V\d+$", "", op_type).lower()
    *scopes, own = (re.sub(r"_\d+$", "", part).replace("_", "").lower() for part in path.split("/"))
    for name in (*scopes, own, kind):
        expressions = _expressions(text, line, with_lambdas=name in (own, kind))
        found = {text.segment(node) for node in expressions if _may_make(node, name)}
        if found:
            words = found.pop() if len(found) == 1 else ""
            return words if len(words) <= _LONGEST else ""
    return ""


def _expressions(text: SourceText, line: int, *, with_lambdas: bool) -> Iterator[ast.expr]:
    """The function of each call on a line, and each operation and comparison.

    ``with_lambdas``: also of calls that are given a lambda.
    """
    statement = text.statement(line)
    for node in ast.walk(statement) if statement is not None else ():
        if not isinstance(node, (ast.Call, ast.BinOp, ast.Compare)) or line not in lines_of(node):
            continue
        if with_lambdas or not is_given_lambda(node):
            yield node.func if isinstance(node, ast.Call) else node


def _may_make(node: ast.expr, kind: str) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _OPERATORS.get(kind, ()))
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], _OPERATORS.get(kind, ()))
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == _NAMES.get(kind) or node.attr.replace("_", "") == kind
