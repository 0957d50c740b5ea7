"""Copy the function of a call that raised, so that it ends before the op that did.

TensorFlow gives nothing of a call that raised. What ran before the op that did can be computed
again: without that op and all that waits for it, and of a loop the turns before the one it is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from .. import limits
from ..private import functions
from .definitions import LOOPS, RUN_FUNCTIONS, Edited, op_name

_Ran = TypeVar("_Ran")
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")


def node_that_raised(definition: Any, message: str) -> Any | None:
    """The node that an error names, or the call, conditional or loop of the function it is in.

    Ops of functions that were inlined go by the node's name and a slash before their own
    (``{{node while/GatherV2}}``, TensorFlow 2.15–2.21).
    """
    for name in _NODE.findall(message):
        for node in definition.node_def:
            if name in (node.name, op_name(definition, node)):
                return node
        around = [
            node
            for node in definition.node_def
            if node.op in RUN_FUNCTIONS and name.startswith(f"{op_name(definition, node)}/")
        ]
        if around:
            return max(around, key=lambda node: len(op_name(definition, node)))
    return None


def run_up_to(definition: Any, node: Any, attempt: Callable[[Any], _Ran | None]) -> _Ran | None:
    """Return what ``attempt`` gives for the longest copy for which it gives anything: of a loop
    with as many turns as there can be. It gets a definition, and gives ``None`` if that raises."""
    whole = attempt(_ending_at(definition, node, keeps_node=False).proto)
    if whole is None or node.op not in LOOPS or not _counts_turns(node):
        return whole
    best, turns, step = whole, 0, 1
    while step and turns + step < limits.TURNS_UNTIL_ERROR:
        longer = attempt(_with_turns(definition, node, turns + step))
        if longer is None:
            break
        best, turns, step = longer, turns + step, 2 * step
    while step > 1:  # it raises with ``turns + step``
        step //= 2
        longer = attempt(_with_turns(definition, node, turns + step))
        if longer is not None:
            best, turns = longer, turns + step
    return best


def _counts_turns(node: Any) -> bool:
    """Whether the first loop variable counts the turns, as ``while_v2`` makes it."""
    asks = functions.definition(node.attr["cond"].func.name)
    given = list(asks.signature.input_arg) if asks is not None else []
    return bool(given) and given[0].type == functions.INT32


def _with_turns(definition: Any, node: Any, most: int) -> Any:
    """The function up to a loop, which ends after so many turns."""
    function = _ending_at(definition, node, keeps_node=True)
    name = op_name(definition, node)
    loop = next(own for own in function.proto.node_def if own.name in (name, node.name))
    asks = Edited(functions.definition(loop.attr["cond"].func.name))
    counter = asks.proto.signature.input_arg[0].name
    limit = asks.add_constant(functions.INT32, most)
    less = asks.add_node("Less", [counter, limit], T=functions.INT32)
    ((name, asked),) = asks.proto.ret.items()
    both = asks.add_node("LogicalAnd", [asked, f"{less.name}:z:0"])
    asks.proto.ret[name] = f"{both.name}:z:0"
    asks.register()
    loop.attr["cond"].func.name = asks.name
    return function.proto


def _ending_at(definition: Any, node: Any, *, keeps_node: bool) -> Edited:
    function = Edited(definition)
    proto = function.proto
    after, before = {node.name}, 0
    while len(after) != before:
        before = len(after)
        for other in proto.node_def:
            if any(ref.lstrip("^").partition(":")[0] in after for ref in other.input):
                after.add(other.name)
    if keeps_node:
        after.discard(node.name)
    function.leave_out(after)
    function.drop_outputs()
    return function
