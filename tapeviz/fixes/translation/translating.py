"""Say in TensorFlow what a stretch of text computes with NumPy and Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import libcst as cst

from ...trace.ids import TensorId
from ..forms import match
from ..model import ErrorCase, FixCase
from ..nodes import (
    all_of,
    argument,
    bare,
    bindings_of,
    called_name,
    dotted,
    enclosed,
    is_call_to,
    pairs_of,
    read_names,
    sole,
)
from ..plan import Plan, fitting
from ..source import ParsedSource
from ..states.slices import after_write, written_part
from ..values.caches import take_caches_away
from .formatting import is_format_method, is_percent_format, sole_expression, unformatted, written
from .numpy_calls import interpolated_by, solved_vector
from .numpy_draws import BY_GAMMA, drawn, is_draw
from .numpy_words import (
    ENTERING,
    FUNCTIONS,
    KERAS_LEAVING_FUNCTIONS,
    LEAVING_FUNCTIONS,
    LEAVING_METHODS,
    METHODS,
    PREDICTING,
    ROUNDING_FUNCTIONS,
    function_for_method,
    function_handed_on,
    twin_of,
)

_MODULES = ("math", "scipy", "statistics")
_WRITING_TEXT = ("json.dump", "json.dumps")
_MAKING = ("zeros", "empty", "ones", "zeros_like", "ones_like", "empty_like")
_CHOOSING = ("choice", "choices")
_COPYING = ("copy", "numpy", "array", "asarray")


def called_model(source: ParsedSource, call: cst.Call) -> str:
    """``model.predict(x)`` → ``model(x)``."""
    given = argument(call, 0, "x")
    if given is None or not isinstance(call.func, cst.Attribute):
        return ""
    return f"{source.code(call.func.value)}({source.code(given)})"


@dataclass(frozen=True, slots=True)
class TranslationRules:
    """``has_vectors``: a product by ``@`` may be of vectors, which TensorFlow's own has not.

    ``is_like_numpy``: tensors behave as arrays do, of which TensorFlow takes the rules for dtypes
    and for subscripts (``tf.experimental.numpy.experimental_enable_numpy_behavior``, from 2.5 on).
    """

    has_vectors: bool = False
    is_like_numpy: bool = False


class Translated:
    """A plan in which calls among ``nodes`` are said in TensorFlow."""

    def __init__(
        self,
        case: FixCase | ErrorCase,
        nodes: Iterable[cst.CSTNode],
        manner: TranslationRules = TranslationRules(),
        plan: Plan | None = None,
    ) -> None:
        self.source = case.source
        self.trace = case.trace
        self.plan = plan or Plan(self.source)
        self.count = 0
        self.manner = manner
        self.cuts_digits = self.draws_anew = self.draws_more_often = False
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
            elif manner.has_vectors and match(node, "_a @ _b"):
                self.plan.replace(node, self._product)
            elif isinstance(node, cst.BinaryOperation) and is_percent_format(node):
                self._unrounded(node, lambda old: old.right)
            elif isinstance(node, (cst.Assign, cst.AugAssign)) and (
                name := _written(self.source, node)
            ):
                self._do(node, partial(_rebound, self.source, name))
            elif twin := function_handed_on(self.source, node):
                self._do(node, partial(_replaced, cst.parse_expression(twin)))
            elif manner.is_like_numpy:
                continue
            elif isinstance(node, cst.Attribute) and node.attr.value == "T":
                self.plan.replace(node, self._transposed)
        for call in all_of(self.source.module, cst.Call) if self.count else ():
            if dotted(call.func) in _WRITING_TEXT and not argument(call, 99, "default"):
                is_of_lists = "tolist" in self.source.code(call)
                self.plan.replace(call, partial(_with_default, is_of_lists=is_of_lists))

        if manner.is_like_numpy:
            self._enable_numpy()

    def _enable_numpy(self) -> None:
        line = f"{self.source.tf}.experimental.numpy.experimental_enable_numpy_behavior()"
        for statement in self.source.statements:
            small = sole(statement)
            names = (
                [alias.evaluated_alias or alias.evaluated_name for alias in small.names]
                if isinstance(small, cst.Import)
                else []
            )
            if self.source.tf in names and self.source.parent(statement) is self.source.module:
                self.plan.after(statement, line)
                return
        self.count = 0

    def _unrounded(self, node: cst.BaseExpression, inside: object) -> None:
        """The number itself in place of its text, or of a number with fewer digits."""
        self._do(node, lambda old: fitting(self.source, node, inside(old)))  # type: ignore[operator]
        self.cuts_digits = True

    def _call(self, call: cst.Call) -> None:
        name = called_name(call)
        if self._takes_out_integers(call):
            return
        if (value := written(self.source, call)) is not None:
            self._do(call, lambda _: fitting(self.source, call, self.plan.changed(value)))
            return
        is_rounded = dotted(call.func) in ROUNDING_FUNCTIONS and call.args
        if is_rounded or is_format_method(call):
            self._unrounded(call, lambda old: bare_argument(old))
            return
        if name in PREDICTING and called_model(self.source, call):
            self._do(call, lambda old: cst.parse_expression(called_model(self.source, old)))
            return
        if is_draw(self.source, call):
            self._do(call, lambda old: fitting(self.source, call, drawn(self.source, old)))
            self.draws_anew |= name in BY_GAMMA
            self.draws_more_often |= _is_in_layer(self.source, call)
            return
        has_arrays = self.source.np in self.source.names
        if (
            has_arrays
            and name in _CHOOSING
            and (shares := argument(call, 99, "p", "weights")) is not None
        ):
            self.plan.replace(shares, partial(_as_array, self.source))
        module, _, function = dotted(call.func).partition(".")
        is_entering = module == self.source.tf and function in ENTERING and bool(call.args)
        if is_entering and self._is_of_numbers(call.args[0].value):
            return  # a gradient cannot lead into it, and what takes it may need a tensor
        if points := interpolated_by(self.source, call):
            self._do(call, lambda old: cst.parse_expression(points(old)))
        elif isinstance(call.func, cst.Attribute) and name in LEAVING_METHODS and not call.args:
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
            self.cuts_digits |= dotted(call.func) == "int" and not self._is_whole(call)
        elif module == self.source.np and function in _MAKING and self._is_filled(call):
            self._do(call, lambda old: cst.parse_expression(f"list({self.source.code(old)})"))
        elif module in (self.source.np, *_MODULES) and function in FUNCTIONS and call.args:
            self._do(call, lambda old: self.function(old, function))
        elif module == self.source.tf and function == "constant" and self._may_be_list(call):
            self.plan.replace(call.func, f"{module}.convert_to_tensor")
            self.count += 1
        elif is_entering and len(call.args) == 1:
            self._do(
                call,
                lambda old: self._given(call, old),
            )
        elif module == self.source.tf and function in ENTERING[:2] and (dtype := _dtype_of(call)):
            self._do(call, partial(self._cast, self.source.code(dtype)))
        elif isinstance(call.func, cst.Attribute) and name in METHODS and not self._is_module(call):
            self._do(call, partial(function_for_method, self.source))

    def _cast(self, dtype: str, call: cst.Call) -> cst.BaseExpression:
        value = self.source.code(call.args[0].value)
        return cst.parse_expression(f"{self.source.tf}.cast({value}, {dtype})")

    def _do(self, call: cst.CSTNode, change: object) -> None:
        self.plan.replace(call, change)  # type: ignore[arg-type]
        self.count += 1

    def _is_filled(self, call: cst.Call) -> bool:
        """Whether the array gets its elements one by one, and not from plain numbers alone: a list
        can keep tensors."""
        assign = self.source.parent(call)
        if not isinstance(assign, cst.Assign):
            return False
        name = self.source.code(assign.targets[0].target)
        return any(
            isinstance(target.target, cst.Subscript)
            and self.source.code(target.target.value) == name
            and not isinstance(write.value, cst.BaseNumber)
            for write in all_of(self.source.module, cst.Assign)
            for target in write.targets
        )

    def _is_of_numbers(self, value: cst.BaseExpression) -> bool:
        """Whether an expression has literals and counters of ``range`` alone."""
        return not all_of(value, cst.Call) and all(map(self._is_counter, read_names(value)))

    def _is_counter(self, name: str) -> bool:
        bindings = bindings_of(self.source.module, name)
        loops = [node.iter for node in bindings if isinstance(node, cst.For)]
        calls = [dotted(loop.func) for loop in loops if isinstance(loop, cst.Call)]
        return bool(bindings) and calls == ["range"] * len(bindings)

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
        if self.manner.is_like_numpy and dotted(value):
            return cst.parse_expression(f"{source.tf}.convert_to_tensor({dotted(value)})")
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
        left = list(map(self.trace.tensors.get, self._left_on_line_of(call)))
        has_axes = any(tensor is not None and tensor.shape for tensor in left)
        if called_name(call) != "item" or not has_axes:
            return value
        return cst.parse_expression(f"{self.source.tf}.reshape({self.source.code(value)}, [])")

    def _left_on_line_of(self, call: cst.Call) -> list[TensorId]:
        """The tensors whose value left TensorFlow on the line of a call."""
        line = self.source.line(call)
        return [leave.tensor for leave in self.trace.leaves if leave.site.line == line]

    def _is_whole(self, call: cst.Call) -> bool:
        """Whether whole numbers left TensorFlow on the line of a call of ``int``, and no others."""
        values = [self.trace.value(tensor) for tensor in self._left_on_line_of(call)]
        return bool(values) and all(v is not None and not (v % 1).any() for v in values)

    def _takes_out_integers(self, call: cst.Call) -> bool:
        """Whether only integers and booleans left TensorFlow on the line of ``int(…)``,
        ``.numpy()`` or the like: they have no gradient, and as plain numbers they go with any
        dtype, which tensors of integers do not."""
        if called_name(call) not in (*LEAVING_FUNCTIONS, *LEAVING_METHODS):
            return False
        left = list(map(self.trace.tensors.get, self._left_on_line_of(call)))
        return bool(left) and all(
            tensor is not None and tensor.dtype.startswith(("int", "uint", "bool"))
            for tensor in left
        )

    def _is_module(self, call: cst.Call) -> bool:
        root = dotted(call.func).partition(".")[0]
        return root in (self.source.np, self.source.tf, *_MODULES)

    def function(self, call: cst.Call, function: str) -> cst.BaseExpression:
        """A call of a function of NumPy or Python's library said in TensorFlow."""
        made = self.source.bound_to(dotted(call.args[0].value))
        if is_call_to(made, "deque"):  # no tensor is made of one
            listed = cst.parse_expression(f"list({dotted(call.args[0].value)})")
            call = call.with_changes(args=[call.args[0].with_changes(value=listed), *call.args[1:]])
        text = twin_of(self.source, function, call)
        if self.manner.has_vectors and function == "linalg.solve":
            text = solved_vector(self.source, call)
        given = call.args[0].value
        if function in ("array", "asarray") and isinstance(given, cst.Name):
            is_list = self._is_list(given.value)
            plain = text if self.manner.is_like_numpy else given.value
            text = f"{self.source.tf}.stack({given.value})" if is_list else plain
        return cst.parse_expression(text)

    def _gathered(self, node: cst.Subscript, places: str) -> cst.BaseExpression:
        taken = f"{self.source.code(node.value)}, {places}, axis=1, batch_dims=1"
        return cst.parse_expression(f"{self.source.tf}.gather({taken})")

    def _product(self, node: cst.BinaryOperation) -> cst.BaseExpression:
        given = f"{self.source.code(node.left)}, {self.source.code(node.right)}"
        return cst.parse_expression(f"{self.source.tf}.experimental.numpy.matmul({given})")

    def _transposed(self, node: cst.Attribute) -> cst.BaseExpression:
        return cst.parse_expression(f"{self.source.tf}.transpose({self.source.code(node.value)})")


def _is_in_layer(source: ParsedSource, call: cst.Call) -> bool:
    """Whether it stands in a layer or model of Keras, which runs ``call`` once more on symbolic
    tensors before it is built (``compute_output_spec`` of Keras 3.0 to 3.15): a draw by NumPy
    refuses these, and the same draw with a shape alone takes numbers from the stream."""
    owner = source.enclosing(call, cst.ClassDef)
    methods = all_of(owner.body, cst.FunctionDef) if owner is not None else ()
    return any(method.name.value == "call" for method in methods)


def _replaced(new: cst.BaseExpression, _: cst.CSTNode) -> cst.BaseExpression:
    return new


def _with_default(call: cst.Call, *, is_of_lists: bool) -> cst.CSTNode:
    """``json.dumps(logs)`` → ``json.dumps(logs, default=float)``, which takes tensors."""
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    writes = cst.parse_expression("lambda t: t.numpy().tolist()" if is_of_lists else "float")
    given = cst.Arg(writes, keyword=cst.Name("default"), equal=plain)
    return call.with_changes(args=[*call.args, given])


def _as_array(source: ParsedSource, given: cst.BaseExpression) -> cst.BaseExpression:
    """NumPy allows an array of shares, other than a tensor, the rounding that its dtype has."""
    return cst.parse_expression(f"{source.np}.asarray({source.code(given)})")


def _is_leaving(function: cst.BaseExpression) -> bool:
    return dotted(function) in LEAVING_FUNCTIONS


def bare_argument(call: cst.Call) -> cst.BaseExpression:
    return call.args[0].value


def _dtype_of(call: cst.Call) -> cst.BaseExpression | None:
    return argument(call, 1, "dtype") if len(call.args) == 2 else None


def _picked(source: ParsedSource, node: cst.Subscript) -> str:
    """``k`` of ``q[np.arange(n), k]``, which takes one element of each row; else empty."""
    places, _ = match(node, "_q[arange(*_), _k]", "_q[range(*_), _k]") or (None, None)
    return source.code(places) if places is not None else ""


def _without_no_op(line: cst.SimpleStatementLine) -> cst.CSTNode:
    """A line that became ``h = h`` goes."""
    small = line.body[0] if len(line.body) == 1 else None
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        target, value = small.targets[0].target, small.value
        if isinstance(value, cst.Name) and target.deep_equals(value):
            return cst.RemoveFromParent()  # type: ignore[return-value]
    return line


def _written(source: ParsedSource, small: cst.Assign | cst.AugAssign) -> str:
    """``a`` of ``a[…] = v`` where it is an array that was copied from another, or taken from a
    tensor; else empty."""
    target = written_part(small)
    if target is None or not isinstance(target.value, cst.Name):
        return ""
    made, seen = source.bound_to(target.value), set[cst.CSTNode]()
    while isinstance(made, cst.Name) and made not in seen:
        seen.add(made)
        made = source.bound_to(made)
    is_copied = is_call_to(made, *_COPYING)
    return target.value.value if is_copied else ""


def _rebound(
    source: ParsedSource, name: str, small: cst.Assign | cst.AugAssign
) -> cst.Assign | cst.AugAssign:
    """``a[1:-1] = v`` → ``a = tf.concat([a[:1], v, a[-1:]], 0)``, where the form is known."""
    text = after_write(source, small, small.value)
    if not text:
        return small
    return cst.Assign([cst.AssignTarget(cst.Name(name))], cst.parse_expression(text))
