"""Each detector on a trace written by hand: a wrong cause is found without TensorFlow.

``CASES``: what ran, line by line, and the kind and line to be named; beside it the near miss that
differs in one thing and has another cause. The snippets of ``cases.py`` show that TensorFlow
records it so.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.causes.ops.not_differentiable import NotDifferentiable
from tapeviz.analysis.causes.table import KINDS
from tapeviz.analysis.findings import Cause
from tapeviz.trace import events as e

from ..traces import Script

Build = Callable[[Script], tuple[int, int, list[int]]]
"""Writes what ran before the gradient call; gives tape, target, and sources, of which the last is
looked at."""
SOURCE = "import tensorflow as tf\n" + "".join(f"step({n})\n" for n in range(2, 12))


def cause_of(build: Build, source: str = SOURCE) -> tuple[str, int, str]:
    """The kind, line and message for a source that got no gradient."""
    script = Script(source)
    tape, target, sources = build(script)
    variables = [each.id for each in script.events if isinstance(each, e.VariableMade)]
    with script.call(tape, [target], sources, line=10, variables=variables) as results:
        results.extend(0 for _ in sources)
    finding = diagnose(script.trace()).calls[-1].findings[-1]
    assert finding.status == "none"
    assert finding.cause is not None
    return finding.cause.kind, finding.cause.line, finding.message


def through(kind: str, dtype: str = "float32", *, is_after: bool = False) -> Build:
    """A variable that goes through one op on line 4; ``is_after``: when the tape has ended."""

    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", (2,), line=2)
        tape = script.tape(line=3)
        read = script.read(w, (2,), line=4)
        if is_after:
            script.exit(tape)
        y = script.op(kind, [read], (2,), line=4, name="y", dtype=dtype)
        if dtype != "float32":
            y = script.op("Cast", [y], (2,), line=5, name="y")
        return tape, y, [w]

    return build


def assigned(owner: str = "", *, reads_state: bool = True) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w, c = script.variable("w", line=2), script.variable("c", line=2)
        if owner:
            script.events = [
                e.VariableMade(made.id, made.name, made.dtype, made.shape, owner=owner)
                if isinstance(made, e.VariableMade) and made.id == c
                else made
                for made in script.events
            ]
        tape = script.tape(line=3)
        value = script.op("Mul", [script.read(w, line=4)], line=4)
        script.op("AssignVariableOp", [c, value], outputs=0, line=5)
        target = script.op("Square", [script.read(c, line=6) if reads_state else value], line=6)
        return tape, target, [w]

    return build


def made_anew(script: Script) -> tuple[int, int, list[int]]:
    w = script.variable("w", line=2)
    tape = script.tape(line=3)
    value = script.op("Mul", [script.read(w, line=4)], line=4)
    v = script.variable("v", initial=value, line=5)
    return tape, script.op("Square", [script.read(v, line=6)], line=6), [w]


def left(how: str) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", value=2.5, line=2)
        tape = script.tape(line=3)
        read = script.op("ReadVariableOp", [w], value=2.5, line=4)
        script.left(read, how, line=4)
        constant = script.tensor(value=2.5)
        return tape, script.op("Square", [constant], line=5, name="y"), [w]

    return build


def plain(watched_on: int = 0, *, dtype: str = "float32") -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        x = script.tensor((2,), name="x", line=2, dtype=dtype)
        tape = script.tape(line=3)
        y = script.op("Square", [x], (2,), line=4, name="y", dtype=dtype)
        if watched_on:
            script.watch(tape, x, line=watched_on)
        return tape, y, [x]

    return build


def of_variable(*, trainable: bool = True, watches: bool = True) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", line=2, trainable=trainable)
        tape = script.tape(line=3, watches=watches)
        return tape, script.op("Square", [script.read(w, line=4)], line=4), [w]

    return build


def reset(script: Script) -> tuple[int, int, list[int]]:
    w = script.variable("w", line=2)
    tape = script.tape(line=3)
    y = script.op("Square", [script.read(w, line=4)], line=4)
    script.reset(tape, line=5)
    return tape, script.op("Neg", [y], line=6), [w]


def rebound(*, before_use: bool = False) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        x = script.tensor((2,), name="x", line=2)
        tape = script.tape(line=3)
        script.watch(tape, x, line=3)
        y = 0 if before_use else script.op("Square", [x], (2,), line=4, name="y")
        x = script.op("AddV2", [x, x], (2,), line=5, name="x")
        y = y or script.op("Square", [x], (2,), line=6, name="y")
        return tape, y, [x]

    return build


def sliced_again(script: Script) -> tuple[int, int, list[int]]:
    x = script.tensor((2,), name="x", line=2)
    tape = script.tape(line=3)
    y = script.op("Square", [script.op("StridedSlice", [x], line=4)], line=4)
    return tape, y, [script.op("StridedSlice", [x], line=10)]


def apart(script: Script) -> tuple[int, int, list[int]]:
    w, v = script.variable("w", line=2), script.variable("v", line=2)
    tape = script.tape(line=3)
    script.op("Square", [script.read(w, line=4)], line=4, name="unused")
    return tape, script.op("Square", [script.read(v, line=5)], line=5, name="y"), [w]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("for each in (v, w):\n    step(9)", ("not-connected", 10)),
        ("each = v; each = w\nstep(9)", ("replaced-source", 8)),
    ],
)
def test_a_loop_over_variables_gives_no_name_away(code: str, found: tuple[str, int]) -> None:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        y = script.op("Square", [script.read(v, line=5)], line=5, name="y")
        script.bind("each", v, line=8)
        script.bind("each", w, line=8)
        return tape, y, [w]

    assert cause_of(build, SOURCE.replace("step(8)\nstep(9)", code))[:2] == found


def custom(*, is_argument: bool) -> Build:
    """A custom gradient whose body takes ``w``, as its argument or from around it."""

    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", line=2)
        x = script.tensor((), name="x", line=2)
        tape = script.tape(line=3)
        value = script.op("Neg", [script.read(w, line=4)], line=4)
        first = script.next_op
        y = script.op("Mul", [x, value], line=5)
        script.recorded("twice", [value if is_argument else x], [y], first, line=6)
        return tape, script.op("Square", [y], line=7), [w]

    return build


def dropped(*, is_kept: bool = False) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", line=2)
        tape = script.tape(line=3)
        old = script.op("TensorListReserve", [script.tensor()], line=3, dtype="variant")
        value = script.op("Neg", [script.read(w, line=4)], line=4)
        new = script.op("TensorListSetItem", [old, value], line=5, dtype="variant")
        taken = script.op("TensorListGetItem", [new if is_kept else old], line=6)
        return tape, script.op("Square", [taken], line=6), [w]

    return build


def mapped(script: Script) -> tuple[int, int, list[int]]:
    """A dataset made before the tape, whose function captured a variable."""
    w = script.variable("w", line=2)
    dataset = script.op("MapDataset", [script.tensor(dtype="variant"), w], line=3, dtype="variant")
    batched = script.op("BatchDatasetV2", [dataset], line=3, dtype="variant")
    tape = script.tape(line=4)
    taken = script.op("IteratorGetNext", [batched], line=5)
    return tape, script.op("Square", [taken], line=6), [w]


def kept_from_before(*, is_like: bool, factor: float = 2.0) -> Build:
    """``old`` from before the tape is used, and ``new``, made in the same way inside, is not."""

    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", (2,), line=2)
        first, two = script.read(w, (2,), line=3), script.tensor(value=2.0)
        old = script.op("Mul", [first, two], (2,), line=3, name="old")
        tape = script.tape(line=4)
        read = script.read(w, (2,), line=5)
        made = read if is_like else script.op("Tanh", [read], (2,), line=5)
        script.op("Mul", [made, script.tensor(value=factor)], (2,), line=5, name="new")
        return tape, script.op("Square", [old], (2,), line=6, name="y"), [w]

    return build


def on_threads(of_tape: int, of_op: int) -> Build:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", line=2)
        tape = script.tape(line=3, thread=of_tape)
        read = script.op("ReadVariableOp", [w], line=4, thread=of_op)
        made = script.op("Square", [read], line=5, thread=of_op)
        kind = "StopGradient" if of_tape == of_op else "Tanh"
        return tape, script.op(kind, [made], line=6, thread=of_tape), [w]

    return build


ERRING = SOURCE.replace("step(5)\nstep(6)", "try: step(w)\nexcept: pass")


@pytest.mark.parametrize("is_on_tape", [False, True])
def test_an_exception_that_was_caught_before_the_source_was_used(is_on_tape: bool) -> None:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        if not is_on_tape:
            script.exit(tape)
        words = "{{function_node x}} Incompatible shapes: [2] vs. [3] [Op:Mul] name: "
        script.caught("ValueError", words, line=5, handler=6)
        return tape, script.op("Square", [script.read(v, line=7)], line=7, name="y"), [w]

    kind, line, message = cause_of(build, ERRING)
    assert (kind, line) == ("not-connected", 5 if is_on_tape else 10)
    words = "Line 5 raised ValueError (Incompatible shapes: [2] vs. [3]). The except on line 6"
    assert message.startswith(words) == is_on_tape, message


@pytest.mark.parametrize("leaves_later", [False, True])
def test_an_exception_before_the_value_left_is_a_probable_cause(leaves_later: bool) -> None:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        read = script.read(w, line=4)
        if not leaves_later:
            script.left(read, "numpy", line=4)
        script.caught("ValueError", "bad", line=5, handler=6)
        if leaves_later:
            script.left(read, "numpy", line=7)
        return tape, script.op("Square", [script.read(v, line=8)], line=8, name="y"), [w]

    kind, line, message = cause_of(build, ERRING)
    assert (kind, line) == ("not-connected", 5)
    assert ("would probably have computed" in message) is leaves_later, message


def test_an_exception_in_the_head_of_a_branch_leaves_no_condition() -> None:
    """The branch did not run since its condition raised, not since it was False."""
    lines = "try:", " if f(w):", "  y = y * w", "except: pass"
    text = SOURCE.replace("step(5)\nstep(6)\nstep(7)\nstep(8)", "\n".join(lines))

    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        square = script.op("Square", [script.read(v, line=4)], line=4, name="y")
        script.caught("ValueError", "bad", line=6, handler=8)
        return tape, square, [w]

    kind, line, message = cause_of(build, text)
    assert (kind, line) == ("not-connected", 6)
    assert message.startswith("Line 6 raised ValueError (bad)."), message


def test_an_exception_of_a_line_without_the_source_says_nothing_of_it() -> None:
    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        script.caught("ValueError", "", line=7, handler=8)
        return tape, script.op("Square", [script.read(v, line=7)], line=7, name="y"), [w]

    assert cause_of(build, ERRING)[:2] == ("not-connected", 10)


CASES: dict[str, tuple[str, int, Build]] = {
    "on another thread": ("outside-tape", 4, on_threads(0, 1)),
    "on another thread than the tape of a thread": ("outside-tape", 4, on_threads(1, 2)),
    "on the thread of the tape": ("stop-gradient", 6, on_threads(1, 1)),
    "into a dataset": ("stateful", 3, mapped),
    "before the block": ("outside-tape", 3, kept_from_before(is_like=False)),
    "assign": ("assign", 5, assigned()),
    "a metric's own variable": ("stateful", 5, assigned("metric")),
    "assign, but the tensor is used": ("not-watched", 2, assigned(reads_state=False)),
    "a variable from a tensor": ("new-variable", 5, made_anew),
    "through NumPy": ("left-tensorflow", 4, left("numpy")),
    "a truth value is no number": ("not-connected", 10, left("bool")),
    "stop_gradient": ("stop-gradient", 4, through("StopGradient")),
    "an op with a slope": ("not-watched", 2, through("Tanh")),
    "an op without one": ("not-differentiable", 4, through("Floor")),
    "positions": ("not-differentiable", 4, through("ArgMax", "int64")),
    "a cast": ("integer", 4, through("Cast", "int32")),
    "text": ("integer", 4, through("AsString", "string")),
    "an integer source": ("integer", 2, plain(dtype="int32")),
    "after the block": ("outside-tape", 4, through("Tanh", is_after=True)),
    "stop_gradient after the block": ("stop-gradient", 4, through("StopGradient", is_after=True)),
    "before a reset": ("outside-tape", 5, reset),
    "nobody watched": ("not-watched", 2, plain()),
    "watched too late": ("not-watched", 5, plain(watched_on=5)),
    "not trainable": ("not-watched", 2, of_variable(trainable=False)),
    "a tape that watches nothing": ("not-watched", 3, of_variable(watches=False)),
    "a name given to another tensor": ("replaced-source", 5, rebound()),
    "a name given before its use": ("not-watched", 5, rebound(before_use=True)),
    "a slice made again": ("replaced-source", 10, sliced_again),
    "another variable": ("not-connected", 10, apart),
    "captured by a custom gradient": ("custom-gradient", 6, custom(is_argument=False)),
    "the argument of one": ("not-watched", 2, custom(is_argument=True)),
    "a write whose result is dropped": ("stateful", 5, dropped()),
    "a write whose result is kept": ("not-watched", 2, dropped(is_kept=True)),
}


@pytest.mark.parametrize("name", CASES)
def test_cause(name: str) -> None:
    kind, line, build = CASES[name]
    found, at, message = cause_of(build)
    assert (found, at) == (kind, line), message
    assert message


@pytest.mark.parametrize("is_target", [False, True])
def test_words_of_a_variable_that_is_one_of_several_targets(is_target: bool) -> None:
    """``q, loss`` does not depend on ``q`` where ``q`` is a target itself."""
    script = Script(SOURCE)
    tape, loss, sources = assigned()(script)
    c = [each.id for each in script.events if isinstance(each, e.VariableMade)][1]
    other = c if is_target else script.op("Neg", [script.read(c, line=7)], line=7)
    with script.call(tape, [other, loss], sources, line=10, variables=sources) as results:
        results.append(0)
    message = diagnose(script.trace()).calls[-1].findings[0].message
    assert ("depends on c" in message) != is_target, message
    assert ("nothing links what c holds back to w" in message) == is_target, message


NAN = float("nan")
# kind of cause, type of the op on line 4, its input and output, the gradient that it received and
# the one that it gave
SPOILED = {
    "a clip outside its range": ("saturated", "Relu", [-1.0, -2.0], [0.0, 0.0], [1.0, 1.0], 0.0),
    "a sign": ("flat-op", "Sign", [-1.0, 2.0], [-1.0, 1.0], [1.0, 1.0], 0.0),
    "a factor of zero": ("multiplied-by-zero", "Mul", [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], 0.0),
    "a factor that is not": ("cancelled", "Mul", [3.0, 3.0], [9.0, 9.0], [1.0, 1.0], 0.0),
    "a product below the smallest number": (
        "multiplied-by-zero",
        "Mul",
        [1e-25, 1e-25],
        [0.0, 0.0],
        [1e-25, 1e-25],
        0.0,
    ),
    "a sine's product below it": (
        "multiplied-by-zero",
        "Sin",
        [1.5, 1.6],
        [0.99, 0.99],
        [1e-45, 1e-45],
        0.0,
    ),
    "a tanh's product below it": (
        "multiplied-by-zero",
        "Tanh",
        [3.0, -3.0],
        [0.99, -0.99],
        [1e-45, 1e-45],
        0.0,
    ),
    "a tanh at its end": ("saturated", "Tanh", [3.0, 20.0], [0.99, 1.0], [0.0, 1e-45], 0.0),
    "an exp of 0": ("saturated", "Exp", [-999.0, -999.0], [0.0, 0.0], [1.0, 1.0], 0.0),
    "a part of which nothing is taken": (
        "multiplied-by-zero",
        "Pack",
        [1.0, 2.0],
        [1.0, 2.0],
        [1.0, 1.0],
        0.0,
    ),
    "a square at 0": ("saturated", "Square", [0.0, 3.0], [0.0, 9.0], [1.0, 0.0], 0.0),
    "an even softmax": ("cancelled", "Softmax", [1.0, 2.0], [0.3, 0.7], [1.0, 1.0], 0.0),
    "a product of two zeros": ("multiplied-by-zero", "Prod", [0.0, 0.0], [0.0, 0.0], [1, 1], 0.0),
    "a product of small numbers": (
        "multiplied-by-zero",
        "Prod",
        [1e-30, 1e-30],
        [0.0, 0.0],
        [1e-20, 1e-20],
        0.0,
    ),
    "a choice of the other value": (
        "multiplied-by-zero",
        "SelectV2",
        [1.0, 2.0],
        [0.0, 0.0],
        [1.0, 1.0],
        0.0,
    ),
    "a root at 0": ("nonfinite", "Sqrt", [0.0, 4.0], [0.0, 2.0], [1.0, 1.0], NAN),
}


def chosen(script: Script, value: int) -> list[int]:
    """The condition, the value, and the one that is taken where the condition is false."""
    return [script.tensor((2,), dtype="bool"), value, script.tensor()]


INPUTS: dict[str, Callable[[Script, int], list[int]]] = {
    "Mul": lambda script, value: [value, value],
    "SelectV2": chosen,
}
"""The inputs of an op type, made from the value of the source; of others that value alone."""


@pytest.mark.parametrize("name", SPOILED)
def test_the_op_that_spoiled_a_gradient(name: str) -> None:
    kind, op, taken, given, upstream, gradient = SPOILED[name]
    script = Script(SOURCE)
    w = script.variable("w", value=taken, line=2)
    tape = script.tape(line=3)
    read = script.op("ReadVariableOp", [w], value=taken, line=4)
    inputs = INPUTS[op](script, read) if op in INPUTS else [read]
    y = script.op(op, inputs, value=given, line=4)
    spoiling = script.last_op
    target = script.op("Sum", [y], value=sum(given), line=5, name="y")
    last = script.last_op
    with script.call(tape, [target], [w], line=10, variables=[w]) as results:
        seed, arrived = script.tensor(value=1.0), script.tensor(value=upstream)
        script.step(last, [seed], [arrived])
        gave = script.tensor(value=[gradient, gradient])
        script.step(spoiling, [arrived], [gave if each == read else 0 for each in inputs])
        results.append(gave)
    finding = diagnose(script.trace()).calls[0].findings[0]
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == (kind, 4), finding.message
    assert "line 4" in finding.message


def test_every_kind_is_tried_here() -> None:
    tried = {kind for kind, *_ in CASES.values()} | {kind for kind, *_ in SPOILED.values()}
    assert tried == set(KINDS)


def test_a_draw_of_whole_numbers_has_a_way_out_of_its_own() -> None:
    kind, _, message = cause_of(through("Multinomial", dtype="int64"))
    assert kind == "not-differentiable"
    assert "log-probability" in message
    assert "log-probability" not in cause_of(through("ArgMax", dtype="int64"))[2]


def test_an_op_whose_derivative_tensorflow_lacks_is_not_said_to_jump() -> None:
    assert "jumps from value to value" in cause_of(through("Floor"))[2]
    message = cause_of(through("HSVToRGB"))[2]
    assert "TensorFlow has no derivative of it by this input" in message
    assert "jumps" not in message
    assert "smooth" not in message


def test_a_comparison_inside_of_a_function_is_not_the_functions_answer() -> None:
    def asked(op: str, words: str) -> str:
        cause = Cause(NotDifferentiable(), 4, "", op, words=words)
        return cause.message("y", "w")

    assert "Inside it compares numbers" in asked("Greater", "tf.linalg.matrix_rank")
    assert "Its result is true or false" in asked("Greater", "tf.greater")
    assert "Its result is true or false" in asked("Greater", "w > 0.5")


def test_a_bitcast_is_not_said_to_jump() -> None:
    kind, _, message = cause_of(through("Bitcast", dtype="int32"))
    assert kind == "not-differentiable"
    assert "reads the same bits as another type" in message


def test_what_the_tape_computed_again_is_named() -> None:
    again = "makes new in the same way while the tape records"
    assert again in cause_of(kept_from_before(is_like=True))[2]
    assert again not in cause_of(kept_from_before(is_like=False))[2]
    assert again not in cause_of(kept_from_before(is_like=True, factor=3.0))[2]


def test_a_way_that_ends_in_a_whole_number_is_not_recommended() -> None:
    def counted(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", (2,), line=2), script.variable("v", line=2)
        tape = script.tape(line=3)
        script.op("ArgMax", [script.read(w, (2,), line=4)], line=4, name="place", dtype="int64")
        return tape, script.op("Square", [script.read(v, line=5)], line=5, name="y"), [w]

    kind, _, message = cause_of(counted)
    assert kind == "not-connected"
    assert "w reaches place (line 4), which gives whole numbers" in message
    assert "if that was meant" not in message


def beside(last: Callable[[Script, int, int], None]) -> Build:
    """A target made from ``v``, and a path from ``w`` that ends in what ``last`` writes."""

    def build(script: Script) -> tuple[int, int, list[int]]:
        w, v = script.variable("w", (2,), line=2), script.variable("v", line=2)
        tape = script.tape(line=3, persistent=True)
        last(script, tape, script.read(w, (2,), line=4))
        return tape, script.op("Square", [script.read(v, line=5)], line=5, name="y"), [w]

    return build


def _asked(script: Script, tape: int, read: int) -> None:
    other = script.op("Sum", [read], line=4, name="other")
    with script.call(tape, [other], [read], line=6) as results:
        results.append(0)


def _left(script: Script, tape: int, read: int) -> None:
    script.left(script.op("Sum", [read], line=4, name="shown"), "float", line=4)


FATES: dict[str, tuple[Callable[[Script, int, int], None], str]] = {
    "nothing takes it": (
        lambda script, tape, read: script.op("Sum", [read], line=4, name="loose") and None,
        "w reaches loose (line 4) and nothing after it; y (line 5) is made from v alone. Use loose",
    ),
    "another call asks for it": (_asked, "w reaches other (line 4), and not y"),
    "it leaves": (_left, "w reaches shown (line 4), where it leaves TensorFlow"),
    "it is only read": (
        lambda script, tape, read: None,
        "Line 4 reads w and uses none of its elements",
    ),
}


@pytest.mark.parametrize("name", FATES)
def test_what_became_of_the_other_path(name: str) -> None:
    last, words = FATES[name]
    kind, _, message = cause_of(beside(last))
    assert kind == "not-connected"
    assert words in message, message


STEERING = {
    "range(k)": (5, "only decides how often the loop on line 6 repeats"),
    "range(3)": (10, "where it leaves TensorFlow"),
}


@pytest.mark.parametrize("turns", STEERING)
def test_a_number_that_decides_how_often_something_runs(turns: str) -> None:
    def counted(script: Script) -> tuple[int, int, list[int]]:
        w, y = script.variable("w", value=2.5, line=2), script.tensor(name="y", line=3)
        tape = script.tape(line=4)
        script.left(script.read(w, line=5), "int", line=5)
        for _ in range(2):
            y = script.op("Sin", [y], line=7, name="y")
        return tape, y, [w]

    lines = ["import tensorflow as tf", "w = tf.Variable(2.5)", "y = tf.constant(1.0)"]
    lines += ["with tf.GradientTape() as tape:", "    k = int(w)", f"    for _ in {turns}:"]
    lines += ["        y = tf.sin(y)", "", "", "tape.gradient(y, w)"]
    _, line, message = cause_of(counted, "\n".join(lines))
    wanted, words = STEERING[turns]
    assert line == wanted, message
    assert words in message


def test_a_target_that_takes_only_the_form_names_the_op() -> None:
    def formed(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", (2,), line=2)
        tape = script.tape(line=3)
        ones = script.op("OnesLike", [script.read(w, (2,), line=4)], (2,), line=4)
        return tape, script.op("Sum", [ones], line=5, name="y"), [w]

    kind, line, message = cause_of(formed)
    assert (kind, line) == ("not-connected", 4)
    assert "y uses only the shape of w" in message


def test_lists_of_turns_say_nothing_of_zeros() -> None:
    """``x ** 2`` at 0, of an ``x`` that a loop gave beside the lists that it keeps."""
    script = Script(SOURCE)
    w = script.variable("w", value=0.0, line=2)
    tape = script.tape(line=3)
    read = script.op("ReadVariableOp", [w], value=0.0, line=4)
    kept = script.tensor(dtype="variant")
    loop = script.op("Relu", [read], value=0.0, line=4)
    looped = script.last_op
    y = script.op("Square", [loop], value=0.0, line=5, name="y")
    squared = script.last_op
    with script.call(tape, [y], [w], line=10, variables=[w]) as results:
        seed, zero = script.tensor(value=1.0), script.tensor(value=0.0)
        script.step(squared, [seed], [zero])
        gave = script.tensor(value=0.0)
        script.step(looped, [zero, kept], [gave])
        results.append(gave)
    finding = diagnose(script.trace()).calls[0].findings[0]
    assert finding.cause is not None
    assert finding.cause.line == 5, finding.message


def test_a_source_of_positions_names_the_line_that_picks_by_it() -> None:
    def picked(script: Script) -> tuple[int, int, list[int]]:
        table = script.tensor((3,), name="table", line=2)
        ids = script.tensor((2,), name="ids", line=2, dtype="int32")
        tape = script.tape(line=3)
        wide = script.op("Cast", [ids], (2,), line=4, dtype="int64")
        return tape, script.op("GatherV2", [table, wide], (2,), line=5, name="y"), [ids]

    kind, line, message = cause_of(picked)
    assert (kind, line) == ("integer", 2)
    assert "line 5 picks elements by it" in message
    assert "picks" not in cause_of(plain(dtype="int32"))[2]


def test_the_same_computed_again_is_no_copy() -> None:
    def again(script: Script) -> tuple[int, int, list[int]]:
        w = script.variable("w", (2,), line=2)
        tape = script.tape(line=3)
        read = script.read(w, (2,), line=4)
        y = script.op("Sum", [script.op("Exp", [read], (2,), line=4)], line=5, name="y")
        return tape, y, [script.op("Exp", [read], (2,), line=6, name="twin")]

    kind, line, message = cause_of(again)
    assert (kind, line) == ("replaced-source", 6)
    assert "Lines 6 and 4 compute the same numbers" in message
    assert "makes a new tensor" in cause_of(sliced_again)[2]
