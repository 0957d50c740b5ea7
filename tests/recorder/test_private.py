"""With any one of TensorFlow's private names missing a snippet runs as ever, and is recorded."""

from __future__ import annotations

import ast
import importlib.util
import math
import re
from collections.abc import Callable, Iterator

import pytest

from tapeviz.trace import events as e

from ..sampling import sampled
from .conftest import Recorded, outcome
from .forks import RECORDER, ForkServer


def is_constant(target: ast.expr) -> bool:
    """Whether a module's name, or each of several, is in capitals."""
    names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
    return bool(names) and all(re.fullmatch("[A-Z][A-Z_]+", name) for name in names)


def strings(value: ast.expr) -> Iterator[str]:
    """The literal strings that a constant is made of: itself, or the parts of a tuple."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def homes(call: ast.Call) -> str:
    """The places where a ``find`` looks, with a space between: its name, and ``before``."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "before"]
    return " ".join(name for part in (call.args[0], *named) for name in strings(part))


NAMES = sorted(
    {
        homes(node)
        for path in (RECORDER / "private").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "find"
    }
)
REPLACED = {
    name
    for path in (RECORDER / "private").glob("*.py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.Assign) and all(map(is_constant, node.targets))
    for name in strings(node.value)
    if not name.startswith("tensorflow.") and name not in ("tempfile", "tapeviz")
}
"""Names spelled as constants: they are replaced in their module or class, or read from tensors."""
PLACES = (
    "tensorflow.python.pywrap_tfe:TFE_Py_FastPathExecute",
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetRecordOperation",
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetStopOnThread",
    "tensorflow.python.pywrap_tfe:TFE_Py_RegisterGradientFunction",
    "tensorflow.python.pywrap_tfe:TFE_Py_RegisterJVPFunction",
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetRestartOnThread",
    "tensorflow.python.eager.execute:record_gradient",
    "tensorflow.python.framework.op_callbacks:clear_op_callbacks",
    "tensorflow.python.ops.custom_gradient:_eager_mode_decorator",
    "tensorflow.python.ops.custom_gradient:_graph_mode_decorator",
    "tensorflow.python.ops.gradients_util:_GradientsHelper",
    "tensorflow.python.ops.gradients_util:_MaybeCompile",
    "tensorflow.python.distribute.mirrored_run:_MirroredReplicaContext._merge_call",
    "tensorflow.python.ops.script_ops:py_func_common",
    "tensorflow.python.ops.script_ops:FuncRegistry.get",
    "tensorflow.python.ops.parallel_for.pfor:_create_op",
    "tensorflow.python.platform.tf_logging:_get_caller",
    "tensorflow.python.framework.func_graph:func_graph_from_py_func",
    "tensorflow.python.framework.ops:uid",
    "tensorflow.python.eager.context:Context.call_function",
    "tensorflow.python.eager.polymorphic_function.atomic_function:AtomicFunction.call_flat",
    "tensorflow.python.eager.forwardprop:ForwardAccumulator._push_accumulator",
    "tensorflow.python.eager.forwardprop:ForwardAccumulator._pop_accumulator",
    "tensorflow:GradientTape._push_tape",
    "tensorflow:GradientTape._pop_tape",
    "tensorflow.python.framework.ops:EagerTensor._id",
    "tensorflow.python.framework.ops:EagerTensor._datatype_enum",
    "tensorflow.python.framework.ops:EagerTensor._shape_tuple",
    "tensorflow.python.framework.ops:EagerTensor._numpy_internal",
)
"""Names that are not looked up once, but replaced or called in their module or class."""
CALLED = {"TFE_Py_RegisterGradientFunction", "TFE_Py_RegisterJVPFunction"}
"""Spelled where they are called, inside of ``private/``."""
EAGER_ATTRIBUTES = [name for name in REPLACED if f"EagerTensor.{name}" in " ".join(PLACES)]
PYTHONS = ("os", "sys", "atexit", "Thread")
SEES_OPS = "tensorflow.python.framework.op_callbacks:add_op_callback"

SNIPPET = """
    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda upstream: 2.0 * upstream

    @tf.function
    def square(x):
        return tf.reduce_sum(x * x)

    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w.assign(4.0)
        y = square(twice(v)) * w + float(w.numpy())
    print([gradient.numpy().tolist() for gradient in tape.gradient(y, [v, w])])
"""
PRINTED = "[[32.0, 64.0], 20.0]\n"


@pytest.fixture(scope="module")
def whole(forks: ForkServer) -> Recorded:
    return outcome(forks, SNIPPET)


def test_all_is_there(whole: Recorded) -> None:
    assert len(NAMES) > 30
    assert whole.out == PRINTED
    missing = "\n".join(note.message for note in whole.of(e.Noted))
    assert missing == ""
    assert whole.ops("Mul")
    assert whole.of(e.StepRan)
    assert whole.of(e.CallEnded)


def test_each_name_has_a_place() -> None:
    assert {re.split("[:.]", place)[-1] for place in PLACES} - CALLED == REPLACED


def test_no_other_private_attribute_is_spelled() -> None:
    """Outside of ``private/`` only attributes of our own and those read from tensors."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in RECORDER.rglob("*.py")}
    spelled = {
        (path.name, node.attr): node.value.id if isinstance(node.value, ast.Name) else ""
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if path.parent.name != "private" and isinstance(node, ast.Attribute)
        if re.match("_[a-z]", node.attr)
    }
    own = {attribute for (_, attribute), owner in spelled.items() if owner in ("self", "cls")}
    foreign = {attribute for (_, attribute), owner in spelled.items() if owner not in PYTHONS}
    assert foreign - own - {"_replace"} <= set(EAGER_ATTRIBUTES)


@pytest.mark.parametrize("name", sampled([*NAMES, *PLACES], 6))
def test_one_name_is_missing(name: str, record: Callable[..., Recorded]) -> None:
    recorded = record(SNIPPET, lacking=name)
    assert recorded.out == PRINTED
    assert recorded.one(e.Ended).how == "finished"
    notes = " ".join(note.message for note in recorded.of(e.Noted))
    assert re.split("[:.]", name.split()[0])[-1] in notes
    assert bool(recorded.ops("AssignVariableOp")) == (name != SEES_OPS)


def test_the_new_place_goes_before_the_old_one() -> None:
    path = RECORDER / "private" / "lookup.py"
    spec = importlib.util.spec_from_file_location("lookup_alone", path)
    assert spec is not None
    assert spec.loader is not None
    lookup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lookup)
    assert lookup.find("math:tau", "turns", before="math:pi") == math.tau
    assert lookup.find("math:lost", "turns", before="math:pi") == math.pi
    assert not lookup.MISSING
    assert not lookup.find("math:lost", "turns", before="lost:pi")
    assert lookup.MISSING == {"math:lost": "turns"}
