"""Hypothesis draws in, small TensorFlow programs out, as text.

A program makes variables and constants, opens tapes, one inside another, computes with ops of
``op_table`` in loops, branches and functions, writes variables in every way there is, and asks
its tapes for gradients. Every tensor that gets a name is shown to ``probe`` with the tapes around
it: a plain run answers with TensorFlow's own word on which of them hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from .op_table import LARGEST, SMOOTH, Made, Operand, Shape, of_one, of_two

SHAPES: tuple[Shape, ...] = ((), (2,), (3,), (2, 2), (2, 3))
UNSMOOTH = ("stop_gradient", "grad_pass_through", ".numpy()", "np.sin", "tripled", "float(")
"""Where one of these stands, finite differences tell something else than TensorFlow's rules."""
_UNTRACEABLE = (".numpy()", "np.", "float(")


def is_unsmooth(text: str) -> bool:
    return any(word in text for word in UNSMOOTH)


_DEEPEST = 2

_HEAD = """import numpy as np
import tensorflow as tf

D, H = tf.{wide}, tf.{narrow}
probe = globals().get("probe", lambda *given: None)


@tf.custom_gradient
def tripled(x):
    return tf.sin(x), lambda upstream: 3.0 * upstream


def or_ones(gradient, like):
    return tf.ones_like(like) if gradient is None else tf.convert_to_tensor(gradient)


"""


@dataclass(frozen=True)
class Source:
    """A variable or constant made at the beginning from numbers in the text."""

    name: str
    shape: Shape
    values: tuple[float, ...]
    makes: str

    def line(self, values: tuple[float, ...]) -> str:
        numbers = ", ".join(f"{round(value, 12)!r}" for value in values)
        return self.makes.format(values=f"[{numbers}]", shape=list(self.shape))


@dataclass(frozen=True)
class Program:
    """``functions`` come before the sources, ``body`` after them."""

    sources: tuple[Source, ...]
    functions: tuple[str, ...]
    body: tuple[str, ...]

    def text(self, values: dict[str, tuple[float, ...]] | None = None, wide: bool = False) -> str:
        """The program; ``values``: for some sources others than their own; ``wide``: in float64."""
        names = ("float64", "float64") if wide else ("float32", "float16")
        head = _HEAD.format(wide=names[0], narrow=names[1])
        made = [
            source.line((values or {}).get(source.name, source.values)) for source in self.sources
        ]
        return head + "\n".join([*self.functions, *made, *self.body]) + "\n"

    @property
    def is_smooth(self) -> bool:
        return not is_unsmooth("\n".join([*self.functions, *self.body]))

    def __repr__(self) -> str:
        return self.text()


@dataclass
class _Scope:
    """The names that can be used at a place of the program."""

    tensors: list[Operand] = field(default_factory=list)
    variables: list[Operand] = field(default_factory=list)
    sources: list[Operand] = field(default_factory=list)
    tapes: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    """Variables that are not to be written."""

    def inner(self, tape: str = "") -> _Scope:
        """A block inside: what it names is not known outside, unless it is added there."""
        tapes = (*self.tapes, tape) if tape else self.tapes
        return _Scope(
            list(self.tensors), list(self.variables), list(self.sources), tapes, self.kept
        )


class _Author:
    """Writes one program, asking Hypothesis wherever there is a choice."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self._count = 0
        self._is_smooth = False
        self.lines: list[str] = []
        self.functions: list[str] = []

    def program(self) -> Program:
        self._is_smooth = bool(self._int(0, 1))
        scope, made = _Scope(), []
        for index in range(self._int(2, 5)):
            made.append(self._source(index, scope))
        for _ in range(self._int(0, 2)):
            self._statement(scope, "")
        for _ in range(self._int(1, 3)):
            self._tape(scope, "", depth=0)
            if self._int(0, 3) == 0:
                self._statement(scope, "")
        return Program(tuple(made), tuple(self.functions), tuple(self.lines))

    def cut_program(self) -> Program:
        """One tape, writes inside it, and sources whose way to the target leads through them."""
        self._is_smooth = True
        scope, made = _Scope(), []
        for index in range(4):
            made.append(self._source(index, scope))
        scope.kept = frozenset(source.name for source in made[:2])
        scope.sources = scope.sources[:2]
        self._tape(scope, "", depth=_DEEPEST, writes=self._int(1, 4))
        return Program(tuple(made), tuple(self.functions), tuple(self.lines))

    # Sources.

    def _source(self, index: int, scope: _Scope) -> Source:
        shape = self._of(SHAPES)
        size = Operand("", shape).size
        values = tuple(self._of(range(-15, 16)) / 8 + 0.03 * (n + 1) for n in range(size))
        kind = self._of(("variable", "variable", "variable", "constant", "fixed"))
        name = f"{kind[0]}{index}"
        number = "tf.reshape(tf.constant({values}, D), {shape})"
        makes = {
            "variable": f"{name} = tf.Variable({number})",
            "constant": f"{name} = {number}",
            "fixed": f"{name} = tf.Variable({number}, trainable=False)",
        }[kind]
        operand = Operand(name, shape)
        (scope.tensors if kind == "constant" else scope.variables).append(operand)
        scope.sources.append(operand)
        return Source(name, shape, values, makes)

    # Blocks.

    def _tape(self, scope: _Scope, indent: str, depth: int, writes: int = 0) -> None:
        tape = self._name("tape")
        options = []
        persistent = self._int(0, 2) == 0
        if persistent:
            options.append("persistent=True")
        chooses = self._int(0, 8) == 0
        if chooses:
            options.append("watch_accessed_variables=False")
        self._write(indent, f"with tf.GradientTape({', '.join(options)}) as {tape}:")
        inner = scope.inner(tape)
        before = len(inner.tensors)
        for _ in range(self._int(1 if chooses else 0, 2)):
            self._watch(inner, indent + "    ", tape)
        for _ in range(self._int(1, 3)):
            self._op(inner, indent + "    ")
        reads = [self._cut(inner, indent + "    ") for _ in range(writes)]
        for _ in range(self._int(2, 7)):
            self._inside(inner, indent + "    ", tape, depth)
        made = inner.tensors[before:]
        scope.tensors.extend(made)
        scope.variables = inner.variables
        for _ in range(self._int(1, 2) if persistent else 1):
            self._ask(scope, indent, tape, reads or made)

    def _cut(self, scope: _Scope, indent: str) -> Operand:
        """Tensors computed from a variable after a source's value went into it."""
        source = self._of(scope.sources)
        writable = [variable for variable in scope.variables if variable.name not in scope.kept]
        value = self._op(_Scope([source], tapes=scope.tapes), indent)
        self._assign(_Scope([value], writable, tapes=scope.tapes), indent)
        read = self._op(_Scope(variables=writable or [value], tapes=scope.tapes), indent)
        scope.tensors += [value, read]
        return read

    def _inside(self, scope: _Scope, indent: str, tape: str, depth: int) -> None:
        choice = self._int(0, 15)
        if choice == 0 and depth < _DEEPEST:
            self._tape(scope, indent, depth + 1)
        elif choice == 1:
            self._watch(scope, indent, tape)
        elif choice == 2:
            self._write(indent, f"with {tape}.stop_recording():")
            self._op(scope, indent + "    ")
        elif choice == 3 and self._int(0, 1):
            self._write(indent, f"{tape}.reset()")
        else:
            self._statement(scope, indent)

    def _statement(self, scope: _Scope, indent: str) -> None:
        choice = self._int(0, 12)
        if choice <= 4:
            self._op(scope, indent)
        elif choice <= 7:
            self._assign(scope, indent)
        elif choice == 8:
            self._loop(scope, indent)
        elif choice == 9:
            self._branch(scope, indent)
        elif choice == 10:
            self._call(scope, indent)
        elif choice == 11:
            self._new_variable(scope, indent)
        else:
            self._write(indent, f"print({self._any(scope).name})")

    # Statements.

    def _op(self, scope: _Scope, indent: str) -> Operand:
        expression, shape = self._expression(scope)
        return self._bind(scope, indent, expression, shape)

    def _bind(self, scope: _Scope, indent: str, expression: str, shape: Shape) -> Operand:
        made = Operand(self._name("t"), shape)
        self._write(indent, f"{made.name} = {expression}")
        self._probe(scope, indent, made.name)
        scope.tensors.append(made)
        return made

    def _probe(self, scope: _Scope, indent: str, name: str) -> None:
        tapes = ", ".join(f'"{tape}": {tape}' for tape in scope.tapes)
        self._write(indent, f'probe("{name}", {name}, {{{tapes}}})')

    def _expression(self, scope: _Scope) -> tuple[str, Shape]:
        a = self._any(scope)
        if self._int(0, 1):
            made = self._allowed(of_two(a, self._any(scope)))
            if made:
                return self._of(made)
        if a.size > LARGEST // 2:
            return f"tf.reduce_mean({a.name}, axis=0)", a.shape[1:]
        return self._of(self._allowed(of_one(a)))

    def _allowed(self, made: Iterable[Made]) -> list[Made]:
        return [choice for choice in made if not (self._is_smooth and is_unsmooth(choice[0]))]

    def _assign(self, scope: _Scope, indent: str) -> None:
        writable = [variable for variable in scope.variables if variable.name not in scope.kept]
        if not writable:
            self._op(scope, indent)
            return
        v = self._of(writable)
        value = self._fitted(scope, v.shape)
        ways = [
            f"{v.name}.assign({value})",
            f"{v.name}.assign_add({value})",
            f"{v.name}.assign_sub(0.5 * {value})",
            f"{v.name}.assign(0.5 * {v.name} + {value})",
        ]
        if v.shape:
            row = self._fitted(scope, v.shape[1:])
            ways += [
                f"{v.name}[0].assign({row})",
                f"{v.name}[-1].assign(2.0 * {row})",
                f"{v.name}.scatter_nd_update([[0]], [{row}])",
                f"{v.name}.scatter_nd_add([[{v.shape[0] - 1}]], [{row}])",
            ]
        self._write(indent, self._of(ways))

    def _new_variable(self, scope: _Scope, indent: str) -> None:
        a = self._any(scope)
        made = Operand(self._name("w"), a.shape)
        self._write(indent, f"{made.name} = tf.Variable({a.name} * 0.5)")
        scope.variables = [*scope.variables, made]

    def _loop(self, scope: _Scope, indent: str) -> None:
        a = self._any(scope)
        made = Operand(self._name("t"), a.shape)
        self._write(indent, f"{made.name} = tf.identity({a.name})")
        self._probe(scope, indent, made.name)
        self._write(indent, f"for i in range({self._int(1, 3)}):")
        inner = scope.inner()
        inner.tensors.append(made)
        if self._int(0, 2) == 0:
            self._assign(inner, indent + "    ")
        b = self._fitted(inner, a.shape)
        template = self._of(self._elementwise)
        changed = template.format(a=f"({made.name} + {b})")
        self._write(indent + "    ", f"{made.name} = {changed}")
        self._probe(inner, indent + "    ", made.name)
        scope.tensors.append(made)

    def _branch(self, scope: _Scope, indent: str) -> None:
        decider, a = self._any(scope), self._any(scope)
        made = Operand(self._name("t"), a.shape)
        self._write(indent, f"if tf.reduce_sum({decider.name}) > 0.2:")
        for word in ("", "else:"):
            if word:
                self._write(indent, word)
            template = self._of(self._elementwise)
            self._write(indent + "    ", f"{made.name} = {template.format(a=a.name)}")
            self._probe(scope, indent + "    ", made.name)
        scope.tensors.append(made)

    def _call(self, scope: _Scope, indent: str) -> None:
        name, a = self._name("made_by"), self._any(scope)
        body, extra = self._body(), self._of(("", ", scale=2.0"))
        if self._int(0, 1):
            # A loop of a graph keeps the dtype that it began with: so do these bodies.
            self.functions.append("@tf.function")
            body = self._of((body, *self._compiled_bodies()))
        self.functions += [f"def {name}(x, scale=0.5):", *(f"    {line}" for line in body), ""]
        self._bind(scope, indent, f"{name}({a.name}{extra})", a.shape)
        if self._int(0, 2) == 0:
            self._bind(scope, indent, f"{name}({a.name})", a.shape)

    def _body(self) -> list[str]:
        first, second = self._of(self._traceable), self._of(self._traceable)
        return [f"y = {first.format(a='x')}", f"return {second.format(a='(y * scale + x)')}"]

    def _compiled_bodies(self) -> list[list[str]]:
        """A loop, a branch and a tape of its own, as AutoGraph and the tracer meet them."""
        first, second = self._of(self._traceable), self._of(self._traceable)
        changed = f"y = scale * {first.format(a='y')} + x"
        return [
            ["y = x * 1.0", "for _ in tf.range(3):", f"    {changed}", "return y"],
            [
                "if tf.reduce_sum(x) > 0.1:",
                f"    y = {first.format(a='x')} * scale",
                "else:",
                f"    y = {second.format(a='x')}",
                "return y",
            ],
            [
                "with tf.GradientTape() as inner:",
                "    z = x * 1.0",
                "    inner.watch(z)",
                f"    y = {first.format(a='z')}",
                "return y + scale * or_ones(inner.gradient(y, z), z)",
            ],
        ]

    def _watch(self, scope: _Scope, indent: str, tape: str) -> None:
        self._write(indent, f"{tape}.watch({self._of(scope.sources).name})")

    def _ask(self, scope: _Scope, indent: str, tape: str, made: list[Operand]) -> None:
        """A gradient call, whose results are printed and go on into the program."""
        target = self._of([*made, *made[-2:], *made[-2:]])
        among = [*scope.sources, *scope.sources, *made[:2]]
        sources = [self._of(among) for _ in range(self._int(1, 3))]
        names = ", ".join(source.name for source in sources)
        result = self._name("g")
        more = self._of(("", "", "", ', unconnected_gradients="zero"'))
        if self._int(0, 5) == 0:
            more += f", output_gradients=0.5 * {target.name}"
        self._write(indent, f"{result} = {tape}.gradient({target.name}, [{names}]{more})")
        self._write(indent, f"print({result})")
        if scope.tapes and self._int(0, 3):
            first = sources[0]
            back = f"1.0 * or_ones({result}[0], {first.name})"
            self._bind(scope, indent, back, first.shape)

    # Choices.

    @property
    def _elementwise(self) -> list[str]:
        return [function for function in SMOOTH if not (self._is_smooth and is_unsmooth(function))]

    @property
    def _traceable(self) -> list[str]:
        """Those that a graph can hold."""
        return [
            function
            for function in self._elementwise
            if not any(word in function for word in _UNTRACEABLE)
        ]

    def _any(self, scope: _Scope) -> Operand:
        """Some operand; what was made last more often than what is old."""
        pool = [*scope.variables, *scope.tensors]
        if len(scope.tensors) > 3 and self._int(0, 1):
            pool = scope.tensors[-3:]
        return self._of(pool)

    def _fitted(self, scope: _Scope, shape: Shape) -> str:
        """An expression of this shape."""
        known = [
            operand for operand in (*scope.variables, *scope.tensors) if operand.shape == shape
        ]
        if known and self._int(0, 3):
            return self._of(known).name
        return f"(tf.reduce_mean({self._any(scope).name}) * tf.ones({list(shape)}, D))"

    def _of(self, choices: Any) -> Any:
        return choices[self._int(0, len(choices) - 1)]

    def _int(self, low: int, high: int) -> int:
        number: int = self._draw(st.integers(low, high))
        return number

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _write(self, indent: str, line: str) -> None:
        self.lines.append(indent + line)


@st.composite
def programs(draw: Callable[[Any], Any]) -> Program:
    """Programs that run, unless TensorFlow itself has a complaint."""
    return _Author(draw).program()


@st.composite
def cut_programs(draw: Callable[[Any], Any]) -> Program:
    """Programs whose missing gradients can be compared with finite differences."""
    return _Author(draw).cut_program()
