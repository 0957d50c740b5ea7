"""Look up by what was put in, where a table or a queue of TensorFlow's was to carry a value."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, called_name, dotted, elements, is_call_to, with_arguments
from ..plan import Plan
from ..source import ParsedSource

_FILLING = ("insert", "insert_or_assign", "KeyValueTensorInitializer")
_QUEUES = ("FIFOQueue", "PaddingFIFOQueue")


def match_keys(case: FixCase) -> Iterator[Edit]:
    """``table.insert(keys, values)``, ``table.lookup(k)`` → the values whose key is equal to ``k``.

    The same numbers for all keys that are there: a product with a matrix of zeros and ones, which
    has a gradient by the values.
    """
    source, tf, code = case.source, case.source.tf, case.source.code
    filling = [*case.calls(*_FILLING)] or source.calls_to(*_FILLING)
    for filled, (keys, values) in with_arguments(filling, "keys", "values"):
        plan, table = Plan(source), _object_filled(source, filled)
        statement = plan.statement_begun_by(filled)
        if statement is None or not table:
            continue
        held = plan.fresh_name("held")
        plan.before(statement, f"{held} = {code(values)}")
        plan.replace(values, held)
        looked_up = 0
        for lookup, (sought,) in with_arguments(source.calls_to(f"{table}.lookup"), "keys"):
            same = f"{tf}.expand_dims({code(sought)}, -1) == {source.operand(keys)}"
            plan.replace(lookup, f"{tf}.tensordot({tf}.cast({same}, {held}.dtype), {held}, 1)")
            looked_up += 1
        if looked_up:
            title = "Take the values themselves by their keys, in place of what the table kept"
            yield from plan.edits(title)


def _object_filled(source: ParsedSource, filled: cst.Call) -> str:
    """The name of the table: of ``table.insert(…)``, or of what is made with the initializer."""
    if isinstance(filled.func, cst.Attribute) and called_name(filled) in _FILLING[:2]:
        return dotted(filled.func.value)
    for assign in all_of(source.module, cst.Assign):
        made = assign.value
        is_table = isinstance(made, cst.Call) and called_name(made).endswith("HashTable")
        if is_table and source.leads_to(made, filled):
            return dotted(assign.targets[0].target)
    return ""


def keep_in_list(case: FixCase) -> Iterator[Edit]:
    """``q = tf.queue.FIFOQueue(…)`` → ``q = []``, ``q.enqueue(x)`` → ``q.append(x)``,
    ``q.dequeue()`` → ``q.pop(0)``: a list holds the tensors themselves."""
    source, tf = case.source, case.source.tf
    for filled in case.calls("enqueue", "enqueue_many"):
        queue = dotted(filled.func).rpartition(".")[0]
        made = source.bound_to(queue) if queue else None
        if not is_call_to(made, *_QUEUES):
            continue
        plan = Plan(source, {made: "[]"})
        for call in all_of(source.module, cst.Call):
            owner, _, method = dotted(call.func).rpartition(".")
            given = [source.operand(arg.value) for arg in call.args]
            as_list = {
                "enqueue": f"{queue}.append({_single(source, call)})",
                "enqueue_many": f"{queue}.extend({tf}.unstack({_single(source, call)}))",
                "dequeue": f"{queue}.pop(0)",
                "dequeue_many": f"{tf}.stack([{queue}.pop(0) for _ in range({', '.join(given)})])",
                "size": f"len({queue})",
            }
            if owner == queue and method in as_list:
                plan.replace(call, as_list[method])
        yield from plan.edits(f"Make {queue} a list, which holds the tensors themselves")


def _single(source: ParsedSource, call: cst.Call) -> str:
    """The code of what is put in: of ``q.enqueue([x])`` the only part."""
    given = call.args[0].value if call.args else None
    parts = elements(given)
    return source.code(parts[0] if len(parts) == 1 else given) if given is not None else ""
