"""Average by a softmax in each window what the position of its largest element picked."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, elements, with_arguments
from ..plan import Plan


def pool_softly(case: FixCase) -> Iterator[Edit]:
    """``_, i = tf.nn.max_pool_with_argmax(x, …)`` → ``i``, averaged by a softmax of each window.

    The mean of ``exp(x) * p`` in a window by that of ``exp(x)`` is such an average of ``p``, be it
    the positions or what ``tf.gather(p, i)`` picks by them.
    """
    source, tf, code = case.source, case.source.tf, case.source.code
    for call in case.calls("max_pool_with_argmax"):
        statement, targets = source.statement_of(call), elements(source.target_of(call))
        name = code(targets[1]) if len(targets) == 2 else ""
        given = argument(call, 0, "input")
        window = [
            argument(call, place, keyword)
            for place, keyword in enumerate(("ksize", "strides", "padding"), 1)
        ]
        if given is None or None in window or statement is None or not name:
            continue
        x, size = code(given), ", ".join(code(each) for each in window if each)
        plan = Plan(source)
        weight, mean = plan.fresh_name("weight"), plan.fresh_name("in_window")
        plan.after(
            statement,
            f"{weight} = {tf}.exp({x} - {tf}.reduce_max({x}))",
            f"{mean} = lambda p: ({tf}.nn.avg_pool2d({weight} * {tf}.reshape("
            f"{tf}.cast(p, {weight}.dtype), {tf}.shape({x})[1:]), {size})"
            f" / {tf}.nn.avg_pool2d({weight}, {size}))",
        )
        read = [node for node in all_of(source.module, cst.Name) if node.value == name][1:]
        gathers = source.calls_to("gather")
        for picked, (values, place) in with_arguments(gathers, "params", "indices"):
            if code(place) == name:
                plan.replace(picked, f"{mean}({code(values)})")
                read.pop()
        if read:
            plan.after(statement, f"{name} = {mean}({tf}.range({tf}.size({x}[0])))")
        title = "Estimate: a softmax average in each window, in place of its largest's position"
        yield from plan.edits(title)
