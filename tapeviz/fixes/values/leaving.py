"""Compute in TensorFlow what went through NumPy or Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Literal, get_args

import libcst as cst

from ..blocks import block_of_call
from ..model import Edit, FixCase, FixFunction
from ..numpy_draws import BY_GAMMA, drawn, is_draw
from ..numpy_words import (
    ENTERING,
    FUNCTIONS,
    KERAS_LEAVING_FUNCTIONS,
    LEAVING_FUNCTIONS,
    LEAVING_METHODS,
    METHODS,
    PREDICTING,
    ROUNDING_FUNCTIONS,
    twin_of,
)
from ..plan import Plan, bare, enclosed, fitting
from ..regions import region_after
from ..rewrites import CallRewrite
from ..source import (
    ParsedSource,
    Statement,
    all_of,
    argument,
    bound_names,
    called_name,
    dotted,
    nodes_in,
    pairs_of,
    read_names,
)
from .caches import take_caches_away
from .formatting import is_format_method, is_percent_format, sole_expression, unformatted

_MODULES = ("math", "scipy")
_WRITING_TEXT = ("json.dump", "json.dumps")
_MAKING = ("zeros", "empty", "ones", "zeros_like", "ones_like", "empty_like")


def _called_model(source: ParsedSource, call: cst.Call) -> str:
    """``model.predict(x)`` → ``model(x)``."""
    given = argument(call, 0, "x")
    if given is None or not isinstance(call.func, cst.Attribute):
        return ""
    return f"{source.code(call.func.value)}({source.code(given.value)})"


CALL_MODEL = CallRewrite(
    PREDICTING,
    lambda case, call: _called_model(case.source, call),
    "Call the model itself in place of predict",
)


def _computed_loss(case: FixCase, call: cst.Call) -> str:
    """``model.evaluate(x, y)`` → ``model.compute_loss(x, y, model(x))``."""
    source = case.source
    x, y = argument(call, 0, "x"), argument(call, 1, "y")
    if not isinstance(call.func, cst.Attribute) or x is None or y is None:
        return ""
    model = source.code(call.func.value)
    given = f"{source.code(x.value)}, {source.code(y.value)}"
    return f"{model}.compute_loss({given}, {model}({source.code(x.value)}))"


COMPUTE_LOSS = CallRewrite(
    ("evaluate", "test_on_batch"),
    _computed_loss,
    "Compute the loss of the model's output in place of {name}, which gives plain numbers",
)


TAKE_VARIABLES = CallRewrite(
    ("get_weights",),
    lambda case, call: (
        f"{case.source.code(call.func.value)}.weights"
        if isinstance(call.func, cst.Attribute) and not call.args
        else ""
    ),
    "Take the variables themselves in place of arrays of their values",
)


def stay_in_tensorflow(case: FixCase) -> Iterator[Edit]:
    """Drop ``.numpy()`` and ``float()``, say ``tf.`` for ``np.``, on this line and what follows."""
    regions: tuple[_Region, ...] = get_args(_Region)
    for region, has_vectors in (*((region, False) for region in regions), ("block", True)):
        translated = _Translated(case, set(_in_region(case, region)), has_vectors)
        if translated.count and translated.cuts_digits:
            title = "Estimate: compute with TensorFlow, and keep the digits that text cuts off"
            yield Edit(title, translated.text(), is_estimate=True)
        elif translated.count and translated.draws_anew:
            title = "Draw with TensorFlow, whose draws have a slope by their parameters"
            yield Edit(title, translated.text(), is_estimate=True)
        elif translated.count:
            yield Edit("Compute with TensorFlow in place of NumPy and Python", translated.text())


def said_in_tensorflow(
    case: FixCase, node: cst.BaseExpression, plan: Plan | None = None
) -> cst.BaseExpression:
    """An expression without ``.numpy()`` and ``np.``; ``plan``: with these changes, too."""
    return _Translated(case, nodes_in(node), plan=plan).plan.changed(node)


def with_the_rest(fix: FixFunction) -> FixFunction:
    """The edits of another fix, and after each the same with what follows said in TensorFlow."""

    def fixes(case: FixCase) -> Iterator[Edit]:
        for edit in fix(case):
            yield edit
            if edit.new_text.count("\n") == case.source.text.count("\n"):
                after = replace(case, source=ParsedSource(edit.new_text))
                for more in islice(stay_in_tensorflow(after), 1):
                    yield replace(edit, new_text=more.new_text)

    return fixes


def call_directly(case: FixCase) -> Iterator[Edit]:
    """``tf.numpy_function(f, [x], T)`` → ``f(x)``, with ``f`` said in TensorFlow."""
    source = case.source
    for call in case.calls("numpy_function", "py_function", "py_func"):
        function, given = argument(call, 0, "func"), argument(call, 1, "inp")
        if function is None or given is None:
            continue
        if not isinstance(given.value, (cst.List, cst.Tuple)):
            continue
        module, _, known = dotted(function.value).partition(".")
        if module == source.np:
            taken = [cst.Arg(element.value) for element in given.value.elements]
            if known in FUNCTIONS and taken:
                plan, twins = Plan(source), _Translated(case, ())
                plan.replace(call, twins.function(cst.Call(function.value, taken), known))
                title = f"Compute with TensorFlow in place of {source.code(function.value)}"
                yield Edit(title, plan.text())
            continue
        inside: cst.CSTNode | None = function.value
        if not isinstance(inside, cst.Lambda):
            inside = _function_named(source, source.code(function.value))
        names = [cst.Arg(element.value) for element in given.value.elements]
        name = source.code(function.value) if inside is not function.value else "the lambda"
        place = 0 if call.args[0] is function else list(call.args).index(function)
        for has_vectors in (False, True):
            nodes = set(nodes_in(inside)) if inside else set()
            translated = _Translated(case, nodes, has_vectors)
            translated.plan.replace(call, partial(_called, place, names))
            title = f"Call {name} directly, and let it compute with TensorFlow"
            yield Edit(title, translated.text())


def _called(place: int, given: list[cst.Arg], call: cst.Call) -> cst.Call:
    """A call of the argument at this place, with the arguments given."""
    return cst.Call(enclosed(call.args[place].value), given)


def _function_named(source: ParsedSource, name: str) -> cst.CSTNode | None:
    for function in all_of(source.module, cst.FunctionDef):
        if function.name.value == name:
            return function.body
    return None


_Region = Literal["readers", "block", "line"]


def _in_region(case: FixCase, region: _Region) -> Iterator[cst.CSTNode]:
    """The statements where a value leaves and those after them that read what was made of it; the
    tape's whole block and the functions that ran there; or the deciding statement alone."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    for line in case.lines() if region != "line" else (case.cause.line,):
        statement = source.statement(line)
        if statement is None:
            continue
        yield from _without_body(statement)
        if region == "line":
            continue
        if region == "block":
            around = block.node.body if block is not None else source.module
            for root in (around, *_running(case, line)):
                yield from _without_prints(root)
            continue
        yield from _called_with(source, statement)
        names = set(bound_names(statement)) | _filled_by(statement)
        for following in region_after(source, statement, block).statements:
            if names & read_names(following) and not _is_print(following):
                names |= bound_names(following)
                yield from nodes_in(following)


def _running(case: FixCase, line: int) -> Iterator[cst.FunctionDef]:
    """The functions that ran when a value left on this line."""
    source = case.source
    sites = [leave.site for leave in case.trace.leaves if leave.site.line == line]
    frames = {frame.line for site in sites[:1] for frame in site.frames}
    for function in all_of(source.module, cst.FunctionDef):
        if any(source.covers(function.body, at) for at in {line, *frames}):
            yield function


def _called_with(source: ParsedSource, statement: Statement) -> Iterator[cst.CSTNode]:
    """The bodies of the text's functions that the statement hands values to."""
    names = {called_name(call) for call in all_of(statement, cst.Call) if call.args}
    for function in all_of(source.module, cst.FunctionDef):
        if function.name.value in names and not source.covers(function, source.line(statement)):
            yield from _without_prints(function.body)


def _filled_by(statement: cst.CSTNode) -> set[str]:
    """``out`` of ``out.append(…)``."""
    calls = (call.func for call in all_of(statement, cst.Call))
    return {
        dotted(function.value)
        for function in calls
        if isinstance(function, cst.Attribute)
        and function.attr.value in ("append", "extend", "insert")
    }


def _without_body(statement: cst.CSTNode) -> list[cst.CSTNode]:
    body = getattr(statement, "body", None)
    hidden = set(map(id, nodes_in(body))) if isinstance(body, cst.BaseSuite) else set()
    return [node for node in nodes_in(statement) if id(node) not in hidden]


def _without_prints(around: cst.CSTNode) -> Iterator[cst.CSTNode]:
    prints = [
        statement for statement in all_of(around, cst.SimpleStatementLine) if _is_print(statement)
    ]
    hidden = {id(node) for statement in prints for node in nodes_in(statement)}
    return (node for node in nodes_in(around) if id(node) not in hidden)


def _is_print(statement: cst.CSTNode) -> bool:
    calls = all_of(statement, cst.Call)
    return bool(calls) and called_name(calls[0]) == "print"


class _Translated:
    """A plan in which calls among ``nodes`` are said in TensorFlow.

    ``has_vectors``: a product by ``@`` may be of vectors, which TensorFlow's own has not.
    """

    def __init__(
        self,
        case: FixCase,
        nodes: Iterable[cst.CSTNode],
        has_vectors: bool = False,
        plan: Plan | None = None,
    ) -> None:
        self.source = case.source
        self.trace = case.trace
        self.plan = plan or Plan(self.source)
        self.count = 0
        self.cuts_digits = self.draws_anew = False
        nodes = list(nodes)
        take_caches_away(self.plan, nodes)
        for node in nodes:
            if isinstance(node, cst.Call):
                self._call(node)
            elif isinstance(node, cst.SimpleStatementLine):
                self.plan.replace(node, _without_no_op)
            elif isinstance(node, cst.Subscript) and (picked := _picked(self.source, node)):
                self.plan.replace(node, partial(self._gathered, places=picked))
            elif isinstance(node, cst.FormattedString) and sole_expression(node) is not None:
                self._unrounded(node, lambda old: sole_expression(old) or old)
            elif has_vectors and isinstance(getattr(node, "operator", None), cst.MatrixMultiply):
                self.plan.replace(node, self._product)
            elif isinstance(node, cst.BinaryOperation) and is_percent_format(node):
                self._unrounded(node, lambda old: old.right)
            elif isinstance(node, cst.Attribute) and node.attr.value == "T":
                self.plan.replace(node, self._transposed)
        for call in all_of(self.source.module, cst.Call) if self.count else ():
            if dotted(call.func) in _WRITING_TEXT and not argument(call, 99, "default"):
                self.plan.replace(call, _with_default)

    def text(self) -> str:
        return self.plan.text()

    def _unrounded(self, node: cst.BaseExpression, inside: object) -> None:
        """The number itself in place of its text, or of a number with fewer digits."""
        self._do(node, lambda old: fitting(self.source, node, inside(old)))  # type: ignore[operator]
        self.cuts_digits = True

    def _call(self, call: cst.Call) -> None:
        name = called_name(call)
        if dotted(call.func) in ROUNDING_FUNCTIONS and call.args:
            self._unrounded(call, lambda old: bare_argument(old))
            return
        if is_format_method(call):
            self._unrounded(call, lambda old: bare_argument(old))
            return
        if name in PREDICTING and _called_model(self.source, call):
            self._do(call, lambda old: cst.parse_expression(_called_model(self.source, old)))
            return
        if is_draw(self.source, call):
            self._do(call, lambda old: fitting(self.source, call, drawn(self.source, old)))
            self.draws_anew |= name in BY_GAMMA
            return
        module, _, function = dotted(call.func).partition(".")
        if isinstance(call.func, cst.Attribute) and name in LEAVING_METHODS and not call.args:
            self._do(
                call,
                lambda old: self._as_scalar(call, self._instead(call, bare(old.func.value))),
            )
        elif name == "map" and len(call.args) == 2 and _is_leaving(call.args[0].value):
            self._do(call, lambda old: enclosed(old.args[1].value))
        elif len(call.args) == 1 and (
            dotted(call.func) in LEAVING_FUNCTIONS or name in KERAS_LEAVING_FUNCTIONS
        ):
            self._do(
                call,
                lambda old: self._given(call, old),
            )
        elif module == self.source.np and function in _MAKING and self._is_filled(call):
            self._do(call, lambda old: cst.parse_expression(f"list({self.source.code(old)})"))
        elif module in (self.source.np, *_MODULES) and function in FUNCTIONS and call.args:
            self._do(call, lambda old: self.function(old, function))
        elif module == self.source.tf and function == "constant" and self._may_be_list(call):
            self.plan.replace(call.func, f"{module}.convert_to_tensor")
            self.count += 1
        elif module == self.source.tf and function in ENTERING and len(call.args) == 1:
            self._do(
                call,
                lambda old: self._given(call, old),
            )
        elif module == self.source.tf and function in ENTERING[:2] and _dtype_of(call):
            dtype = self.source.code(_dtype_of(call).value)  # type: ignore[union-attr]
            self._do(call, lambda old: self._cast(old, dtype))
        elif isinstance(call.func, cst.Attribute) and name in METHODS and not self._is_module(call):
            self._do(call, self._method)

    def _cast(self, call: cst.Call, dtype: str) -> cst.BaseExpression:
        value = self.source.code(call.args[0].value)
        return cst.parse_expression(f"{self.source.tf}.cast({value}, {dtype})")

    def _do(self, call: cst.BaseExpression, change: object) -> None:
        self.plan.replace(call, change)  # type: ignore[arg-type]
        self.count += 1

    def _is_filled(self, call: cst.Call) -> bool:
        """Whether the array gets its elements one by one: a list can keep tensors."""
        assign = self.source.parent(call)
        if not isinstance(assign, cst.Assign):
            return False
        name = self.source.code(assign.targets[0].target)
        targets = (target.target for target in all_of(self.source.module, cst.AssignTarget))
        return any(
            isinstance(target, cst.Subscript) and self.source.code(target.value) == name
            for target in targets
        )

    def _is_list(self, name: str) -> bool:
        """Whether a name is bound to a list in the text."""
        return any(
            isinstance(assign.value, (cst.List, cst.ListComp))
            and any(self.source.code(target.target) == name for target in assign.targets)
            for assign in all_of(self.source.module, cst.Assign)
        )

    def _may_be_list(self, call: cst.Call) -> bool:
        """Whether a list is given, or a name that a function of the snippet may have bound to one:
        only ``convert_to_tensor`` makes one tensor of several, with a gradient."""
        given = call.args[0].value if len(call.args) == 1 else None
        if isinstance(given, (cst.List, cst.Tuple, cst.ListComp)):
            return True
        made = self.source.bound_to(given) if isinstance(given, cst.Name) else None
        if isinstance(made, (cst.List, cst.ListComp)):
            return True
        return isinstance(made, cst.Call) and isinstance(made.func, cst.Name)

    def _given(self, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
        return self._instead(place, unformatted(call.args[0].value))

    def _instead(self, place: cst.Call, value: cst.BaseExpression) -> cst.BaseExpression:
        """``value`` in place of a call that takes it out of TensorFlow: a tensor, where ``+=`` or
        the like follows, which a variable does not have."""
        source = self.source
        assign = source.enclosing(place, cst.Assign)
        if assign is not None and dotted(value):
            pairs = pairs_of(assign.targets[0].target, assign.value)
            names = {dotted(target) for target, bound in pairs if bound is place}
            steps = all_of(source.function_of(place), cst.AugAssign)
            if any(dotted(step.target) in names for step in steps):
                return cst.parse_expression(f"{source.tf}.convert_to_tensor({dotted(value)})")
        return fitting(source, place, value)

    def _as_scalar(self, call: cst.Call, value: cst.BaseExpression) -> cst.BaseExpression:
        """The value of ``t.item()``, which has no axes, whatever axes of length 1 ``t`` has."""
        line, tensors = self.source.line(call), self.trace.tensors
        left = [tensors.get(leave.tensor) for leave in self.trace.leaves if leave.site.line == line]
        has_axes = any(tensor is not None and tensor.shape for tensor in left)
        if called_name(call) != "item" or not has_axes:
            return value
        return cst.parse_expression(f"{self.source.tf}.reshape({self.source.code(value)}, [])")

    def _is_module(self, call: cst.Call) -> bool:
        root = dotted(call.func).partition(".")[0]
        return root in (self.source.np, self.source.tf, *_MODULES)

    def function(self, call: cst.Call, function: str) -> cst.BaseExpression:
        """A call of a function of NumPy or ``math`` said in TensorFlow."""
        text = twin_of(self.source, function, call)
        given = call.args[0].value
        if function in ("array", "asarray") and isinstance(given, cst.Name):
            is_list = self._is_list(given.value)
            text = f"{self.source.tf}.stack({given.value})" if is_list else given.value
        return cst.parse_expression(text)

    def _method(self, call: cst.Call) -> cst.BaseExpression:
        code = self.source.code
        given = [code(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for arg in call.args]
        function = call.func
        assert isinstance(function, cst.Attribute)
        shape = given[0] if len(given) == 1 else f"[{', '.join(given)}]"
        dtype = given[0].replace(f"{self.source.np}.", f"{self.source.tf}.") if given else ""
        if dtype in ("float", "'float32'", '"float32"'):
            dtype = f"{self.source.tf}.float32"
        text = METHODS[function.attr.value].format(
            tf=self.source.tf,
            x=code(function.value),
            more="".join(f", {size}" for size in given),
            shape=shape if shape.startswith(("[", "(")) or not shape else f"[{shape}]",
            dtype=dtype,
        )
        return cst.parse_expression(text)

    def _gathered(self, node: cst.Subscript, places: str) -> cst.BaseExpression:
        taken = f"{self.source.code(node.value)}, {places}, axis=1, batch_dims=1"
        return cst.parse_expression(f"{self.source.tf}.gather({taken})")

    def _product(self, node: cst.BinaryOperation) -> cst.BaseExpression:
        given = f"{self.source.code(node.left)}, {self.source.code(node.right)}"
        return cst.parse_expression(f"{self.source.tf}.experimental.numpy.matmul({given})")

    def _transposed(self, node: cst.Attribute) -> cst.BaseExpression:
        return cst.parse_expression(f"{self.source.tf}.transpose({self.source.code(node.value)})")


def _with_default(call: cst.Call) -> cst.CSTNode:
    """``json.dumps(logs)`` → ``json.dumps(logs, default=float)``, which takes tensors."""
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    given = cst.Arg(cst.Name("float"), keyword=cst.Name("default"), equal=plain)
    return call.with_changes(args=[*call.args, given])


def _is_leaving(function: cst.BaseExpression) -> bool:
    return dotted(function) in LEAVING_FUNCTIONS


def bare_argument(call: cst.Call) -> cst.BaseExpression:
    return call.args[0].value


def _dtype_of(call: cst.Call) -> cst.Arg | None:
    return argument(call, 1, "dtype") if len(call.args) == 2 else None


def _picked(source: ParsedSource, node: cst.Subscript) -> str:
    """``k`` of ``q[np.arange(n), k]``, which takes one element of each row; else empty."""
    if len(node.slice) != 2 or not all(
        isinstance(element.slice, cst.Index) for element in node.slice
    ):
        return ""
    rows, places = (
        element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)
    )
    is_each = isinstance(rows, cst.Call) and called_name(rows) in ("arange", "range")
    return source.code(places) if is_each else ""


def _without_no_op(line: cst.SimpleStatementLine) -> cst.CSTNode:
    """A line that became ``h = h`` goes."""
    small = line.body[0] if len(line.body) == 1 else None
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target, value = small.targets[0].target, small.value
        if isinstance(value, cst.Name) and target.deep_equals(value):
            return cst.RemoveFromParent()  # type: ignore[return-value]
    return line
