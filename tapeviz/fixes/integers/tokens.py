"""Pass one-hot vectors on where a sequence of positions (tokens) goes through several names."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..forms import EQUAL, UNEQUAL, match, matches
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    called_name,
    dotted,
    elements,
    is_call_to,
    nodes_in,
    pairs_of,
    parameters_of,
)
from ..plan import Plan, fitting
from ..smooth.argmax import are_probabilities
from ..smooth.indices import embeddings_of, input_shape

_CARRYING = ("stack", "concat", "identity", "tuple", "list", "expand_dims", "squeeze", "transpose")
_OF_ARRAYS = ("stack", "concat", "read", "write")
"""Methods of a ``tf.TensorArray``."""
_CARRYING_OPS = frozenset(
    ("Cast", "Pack", "ConcatV2", "ExpandDims", "Squeeze", "Identity", "StridedSlice", "Unpack")
)
_ADDING = ("append", "insert", "extend")


def pass_one_hot(case: FixCase) -> Iterator[Edit]:
    """``tok = tf.argmax(scores, -1)`` → a one-hot vector with the slope of the softmax, and
    ``emb(tok)`` → its product with the table; so ``tf.random.categorical(scores, 1)``.

    The names that the positions go through (lists, results and arguments of functions) then hold
    vectors: what reads them is rewritten, and what starts them (``tok = tf.zeros(…)``) is made
    one-hot (the straight-through Gumbel-softmax without its noise: Jang, Gu and Poole 2017).
    """
    source, tf, plan, count = case.source, case.source.tf, Plan(case.source), 0
    for call in case.calls("argmax", "argmin", "categorical"):
        given, shape = argument(call, 0, "input", "logits"), input_shape(case)
        is_draw = called_name(call) == "categorical"
        axis = None if is_draw else argument(call, 1, "axis", "dimension")
        last = ("-1", str(len(shape) - 1))
        is_last = source.code(axis) in last if axis is not None else len(shape) == 1 or is_draw
        around = source.enclosing(call, cst.Call)
        depth = source.argument_code(around, 1, "depth") if around is not None else ""
        size = shape[-1] if shape else depth
        statement = source.statement_of(call)
        if not isinstance(statement, cst.SimpleStatementLine) or not is_last:
            continue
        tokens = _Tokens(case, call, *_bound_by_ops(case))
        if given is None or not size or not (read := _read_by_vectors(plan, tokens, size)):
            continue
        count += read
        _keep_last_axis(plan, tokens)
        _start_one_hot(plan, tokens, size)
        scores = source.code(given)
        if called_name(call) == "argmin":
            scores = f"-{source.operand(given)}"
        is_soft = called_name(call) != "argmin" and are_probabilities(case, call)
        probabilities = scores if is_soft else f"{tf}.nn.softmax({scores})"
        begun = plan.statement_begun_by(call)
        if begun is not None and is_soft:
            soft = name = plan.named(given, is_read_later=True)
        else:
            soft = name = plan.fresh_name("soft")
        if begun is not None and not is_soft:
            plan.before(begun, f"{soft} = {probabilities}")
        hard = f"{tf}.one_hot({tf}.argmax({soft}, axis=-1), {size})"
        if is_draw:
            hard = f"{tf}.one_hot({source.code(call)}, {size})"
            soft = f"{soft}[:, {tf}.newaxis]"
        text = f"{soft} + {tf}.stop_gradient({hard} - {soft})"
        alone = f"(lambda {name}: {text})({probabilities})"
        plan.replace(call, text if begun is not None else alone)
    if count:
        yield from plan.edits("Estimate: pass one-hot vectors on with the slope of the softmax")


def _bound_by_ops(case: FixCase) -> tuple[set[str], set[int]]:
    """The names of the tensors that hold the positions as the recording has them, which came
    through whatever function, container or closure of Python; and the lines that bound them."""
    trace = case.trace
    start = trace.op(case.cause.op_id)
    held = set(start.outputs) if start is not None else set()
    for op in trace.ops.values() if held else ():
        if op.type in _CARRYING_OPS and not held.isdisjoint(op.inputs):
            held.update(op.outputs)
    bound = [
        (name, binding.site.line)
        for binding in trace.bindings
        for tensor, name in binding.tensors
        if tensor in held and name.replace(".", "").isidentifier()
    ]
    return {name for name, _ in bound}, {line for _, line in bound}


class _Tokens:
    """The names (also attributes) that hold the positions, and calls that return them."""

    def __init__(self, case: FixCase, call: cst.Call, names: set[str], lines: set[int]) -> None:
        self.source = case.source
        self.trace = case.trace
        self.call = call
        self.names = names
        self.lines = lines
        """The lines that bind the names to the positions, however they came there."""
        self.calls: set[cst.Call] = set()
        """Calls of functions that return them."""
        self._called: dict[cst.Call, list[cst.FunctionDef]] = {}
        for function in all_of(self.source.module, cst.FunctionDef):
            for each in self.source.calls_of(function):
                self._called.setdefault(each, []).append(function)
        while self._grow():
            pass

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether an expression passes the positions on as they are."""
        if node is self.call or dotted(node) in self.names:
            return True
        if isinstance(node, cst.Subscript):
            return self.holds(node.value)
        if isinstance(node, (cst.List, cst.Tuple)):
            return any(map(self.holds, elements(node)))
        if isinstance(node, cst.ListComp):
            return self.holds(node.elt)
        if not isinstance(node, cst.Call):
            return False
        if node in self.calls:
            return True
        if isinstance(node.func, cst.Attribute) and called_name(node) in _OF_ARRAYS:
            if called_name(node) == "write" and self.holds(node.args[-1].value):
                return True
            if dotted(node.func.value) in self.names:
                return True
        return called_name(node) in _CARRYING and any(self.holds(arg.value) for arg in node.args)

    def are_with_whole(self, compared: cst.CSTNode) -> bool:
        """Whether the positions are compared with a whole number: ``ids == 2``."""
        line, trace = self.source.line(compared), self.trace
        ops = (op for op in trace.ops.values() if op.line == line and "Equal" in op.type)
        forms = [[trace.tensors[t].shape for t in op.inputs if t in trace.tensors] for op in ops]
        return any(() in shapes for shapes in forms)

    def _grow(self) -> bool:
        source, before = self.source, (len(self.names), len(self.calls))
        for node in nodes_in(source.module):
            if isinstance(node, cst.Assign):
                self.names |= {dotted(to) for to, value in _assigned(node) if self.holds(value)} - {
                    ""
                }
            elif isinstance(node, cst.Return) and node.value and self.holds(node.value):
                function = source.enclosing(node, cst.FunctionDef)
                self.calls |= set(source.calls_of(function)) if function is not None else set()
            elif isinstance(node, cst.For) and self.holds(node.iter):
                self.names |= {dotted(node.target)} - {""}
            elif isinstance(node, cst.Call) and any(self.holds(arg.value) for arg in node.args):
                if called_name(node) in _ADDING and isinstance(node.func, cst.Attribute):
                    self.names |= {dotted(node.func.value)} - {""}
                self._given(node)
        return before != (len(self.names), len(self.calls))

    def _given(self, call: cst.Call) -> None:
        """A parameter of the text's function is what is given for it."""
        for function in self._called.get(call, ()):
            names = parameters_of(function)
            names = names[1:] if names[:1] == ["self"] else names
            for place, name in enumerate(names):
                given = argument(call, place, name)
                if given is not None and self.holds(given):
                    self.names.add(name)


def _read_by_vectors(plan: Plan, tokens: _Tokens, size: int | str) -> int:
    """Make what looks up rows by the positions a product with the table; how much that was."""
    source, tf, count = plan.source, plan.source.tf, 0
    for user in all_of(source.module, cst.Call):
        if called_name(user) == "one_hot" and user.args and tokens.holds(user.args[0].value):
            plan.replace(user, lambda old, user=user: fitting(source, user, old.args[0].value))  # type: ignore[misc]
            count += 1
            continue
        table, place = embeddings_of(source, user), 0
        if called_name(user) == "gather" and (params := argument(user, 0, "params")) is not None:
            table, place = source.code(params), 1
        if called_name(user) == "embedding_lookup":
            place = 1
        ids = argument(user, place, "ids", "indices")
        if not table or ids is None or not tokens.holds(ids):
            continue
        vectors = source.code(ids)
        plan.replace(user, f"{tf}.tensordot({vectors}, {table}, 1)")
        layer = source.maker_of(table.removesuffix(".embeddings"))
        made = source.statement_of(layer[0]) if layer is not None else None
        is_built = bool(source.calls_to(f"{table.removesuffix('.embeddings')}.build"))
        if made is not None and table.endswith(".embeddings") and not is_built:
            plan.put_after.pop(made, None)
            plan.after(made, f"{table.removesuffix('.embeddings')}.build(None)")
        count += 1
    for compared, sides in matches(nodes_in(source.module), *EQUAL, *UNEQUAL):
        if [*map(tokens.holds, sides)].count(True) == 1:
            held, number = map(source.code, sorted(sides, key=tokens.holds, reverse=True))
            share = f"{tf}.reduce_sum({held} * {tf}.one_hot({number}, {size}), -1)"
            if tokens.are_with_whole(compared):
                share = f"{tf}.gather({held}, {number}, axis=-1)"
            plan.replace(compared, share if match(compared, *EQUAL) else f"1.0 - {share}")
            count += 1
    return count


def _keep_last_axis(plan: Plan, tokens: _Tokens) -> None:
    """The last axis is that of the vectors now: what is done along the last of the positions is
    done along the one before."""
    for call in plan.source.calls_to(*_CARRYING):
        if call.args and tokens.holds(call.args[0].value):
            axis = argument(call, 1, "axis")
            if axis is not None and plan.source.code(axis) == "-1":
                plan.replace(axis, "-2")
            order = argument(call, 1, "perm")
            if order is not None:
                codes = map(plan.source.code, elements(order))
                plan.replace(order, f"[{', '.join([*codes, str(len(elements(order)))])}]")
            elif called_name(call) == "transpose":  # of rows and columns
                rows = cst.Arg(cst.parse_expression("[1, 0, 2]"))
                plan.replace(call, lambda old, rows=rows: old.with_changes(args=[*old.args, rows]))  # type: ignore[misc]


def _start_one_hot(plan: Plan, tokens: _Tokens, size: int | str) -> None:
    """Make the whole numbers that the names are given at first one-hot."""
    source = plan.source
    for assign in all_of(source.module, cst.Assign):
        for to, value in _assigned(assign):
            is_list = isinstance(value, cst.List) and not elements(value)
            is_start = source.line(assign) not in tokens.lines
            if is_call_to(value, "TensorArray") and dotted(to) in tokens.names:
                for dtype in (arg.value for arg in value.args if "int" in source.code(arg.value)):
                    plan.replace(dtype, f"{source.tf}.float32")
                continue
            if dotted(to) in tokens.names and is_start and not is_list and not tokens.holds(value):
                plan.replace(value, f"{source.tf}.one_hot({source.code(value)}, {size})")


def _assigned(assign: cst.Assign) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    for target in assign.targets:
        yield from pairs_of(target.target, assign.value)
