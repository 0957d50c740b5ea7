"""How the analysis grows with what a snippet has many of; without TensorFlow, from written events.

    python tests/benchmarks/bench_growth.py [NAME…]

``variables``: each is read, all are summed, one gradient for all. ``cut sources``: none of them
reaches the target. ``calls``: a tape for each; ``writes``: the same, with a variable that is
written to under it. ``chain``: ops one after the other in one tape. ``deep``: an op at each level
of a recursion. CPU seconds, exponents. ``rounds``: what it takes to draw another round of a loop.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import LONG, exponent, print_row
from traces import Script

from tapeviz import drawing
from tapeviz.analysis.diagnose import diagnose
from tapeviz.cli import collect_seldom
from tapeviz.drawing.first_view import placed
from tapeviz.scene.compose import compose
from tapeviz.trace.events import NameBound
from tapeviz.view import View


def many_variables(count: int) -> Script:
    script = Script("import tensorflow as tf\nloss = total(variables)\n")
    variables = [script.variable(f"v{k}", value=1.0, line=1) for k in range(count)]
    tape = script.tape(line=2)
    reads = [script.read(variable, line=2) for variable in variables]
    loss = script.op("AddN", reads, line=2, name="loss", value=float(count))
    script.exit(tape)
    _ask(script, tape, [loss], variables, [1.0] * count)
    return script


def many_cut_sources(count: int) -> Script:
    script = Script("import tensorflow as tf\nloss = f(variables)\n")
    variables = [script.variable(f"v{k}", value=1.0, line=1) for k in range(count)]
    tape = script.tape(line=2)
    reads = [script.op("Round", [script.read(v, line=2)], line=2) for v in variables]
    loss = script.op("AddN", reads, line=2, name="loss", value=float(count))
    script.exit(tape)
    _ask(script, tape, [loss], variables, [None] * count)
    return script


def many_calls(count: int) -> Script:
    script = Script("import tensorflow as tf\nfor k in n: loss = v * v\n    g = tape.gradient()\n")
    variable = script.variable("v", value=1.0, line=1)
    for _ in range(count):
        tape = script.tape(line=2)
        value = script.read(variable, line=2)
        loss = script.op("Mul", [value, value], line=2, name="loss", value=1.0)
        script.exit(tape)
        _ask(script, tape, [loss], [variable], [2.0])
    return script


def many_writes(count: int) -> Script:
    script = Script("import tensorflow as tf\nw.assign(v * v); loss = w * v\ng = tape.gradient()\n")
    v, w = (script.variable(name, value=1.0, line=1) for name in "vw")
    for _ in range(count):
        tape = script.tape(line=2)
        value = script.read(v, line=2)
        squared = script.op("Mul", [value, value], line=2)
        script.op("AssignVariableOp", [w, squared], line=2, outputs=0)
        loss = script.op("Mul", [script.read(w, line=2), value], line=2, name="loss", value=1.0)
        script.exit(tape)
        _ask(script, tape, [loss], [v, w], [1.0, 1.0])
    return script


def many_rounds(count: int) -> Script:
    script = Script("import tensorflow as tf\nfor k in n:\n    loss = v * v\n    v.assign(g)\n")
    variable = script.variable("v", value=1.0, line=1)
    for _ in range(count):
        script.events.append(NameBound("k", script.site(2), []))
        tape = script.tape(line=3)
        value = script.read(variable, line=3)
        loss = script.op("Mul", [value, value], line=3, name="loss", value=1.0)
        script.exit(tape)
        _ask(script, tape, [loss], [variable], [2.0])
        script.op("AssignVariableOp", [variable, value], line=4, outputs=0)
    return script


def long_chain(count: int) -> Script:
    script = Script("import tensorflow as tf\nx = tf.sin(x)\n")
    variable = script.variable("v", value=1.0, line=1)
    tape = script.tape(line=2)
    value = script.read(variable, line=2)
    for k in range(count):
        value = script.op(("Sin", "Mul")[k % 2], [value], line=2, value=1.0, name="x")
    script.exit(tape)
    _ask(script, tape, [value], [variable], [1.0])
    return script


def deep_stack(count: int) -> Script:
    script = Script("import tensorflow as tf\ndef f(x): return f(tf.sin(x))\n")
    variable = script.variable("v", value=1.0, line=1)
    tape = script.tape(line=2)
    value = script.read(variable, line=2)
    for k in range(count):
        value = script.op("Sin", [value], at=[2] * (k + 1), value=1.0)
    script.exit(tape)
    _ask(script, tape, [value], [variable], [1.0])
    return script


def _ask(
    script: Script,
    tape: int,
    targets: Sequence[int],
    variables: Sequence[int],
    values: Sequence[float | None],
) -> None:
    with script.call(tape, targets, variables, line=3, variables=variables) as results:
        results += [0 if value is None else script.tensor(value=value) for value in values]


_DRAWN = 40
"""Rounds that are drawn of each loop."""
CASES: dict[str, tuple[Callable[[int], Script], list[int]]] = {
    "variables": (many_variables, [1_000, 3_000, 10_000]),
    "cut sources": (many_cut_sources, [1_000, 3_000, 10_000, *([20_000] if LONG else [])]),
    "calls": (many_calls, [500, 1_500, 5_000]),
    "writes": (many_writes, [500, 1_500, 5_000]),
    "ops in a chain": (long_chain, [5_000, 20_000, 60_000, *([200_000] if LONG else [])]),
    "levels of recursion": (deep_stack, [100, 300, 900]),
}


def measure(script: Script) -> dict[str, float]:
    """CPU seconds of each phase."""
    found: dict[str, float] = {}
    started = time.process_time()

    def ended(phase: str) -> None:
        nonlocal started
        now = time.process_time()
        found[phase] = now - started
        started = now

    trace = script.trace()
    ended("read")
    diagnosis = diagnose(trace)
    ended("diagnose")
    view = View()
    shown = drawing.shown_call(diagnosis, view.overlay)
    call = shown.call.id if shown is not None else None
    sized = drawing.sized_graph(trace, view, call)
    ended("build, fold")
    layout = placed(sized, view)
    ended("layout")
    compose(sized, layout, trace, shown, view.overlay)
    ended("compose")
    return found


def measure_rounds() -> None:
    """Draw the last rounds of loops of several lengths, one after the other."""
    sizes, costs = [50, 500, 5_000], []
    for size in sizes:
        trace = many_rounds(size).trace()
        took = []
        for call in trace.calls[-_DRAWN:]:
            started = time.process_time()
            drawing.sized_graph(trace, View(), call.id)
            took.append(time.process_time() - started)
        costs.append(median(took))
    words = ", ".join(f"{1000 * cost:.1f}" for cost in costs)
    counts = ", ".join(f"{size:,}" for size in sizes)
    figure = f"{words} ms of CPU at {counts} rounds, grows as n^{exponent(sizes, costs):.2f}"
    print_row("drawing another round", figure, "16 ms, n^0.2")


def main(names: list[str]) -> None:
    collect_seldom()
    if not names or "rounds" in names:
        measure_rounds()
    for name in [name for name in names or CASES if name in CASES]:
        make, sizes = CASES[name]
        results = []
        for size in sizes:
            results.append(measure(make(size)))
            words = "  ".join(f"{phase} {cost:6.2f}" for phase, cost in results[-1].items())
            print(f"{size:7} {name}: {words}", flush=True)
        last, total = results[-1], sum(results[-1].values())
        long = [phase for phase in last if last[phase] > 0.1] or [max(last, key=last.__getitem__)]
        worst = max((exponent(sizes, [found[phase] for found in results]), phase) for phase in long)
        print_row(
            f"first picture of {sizes[-1]:,} {name}",
            f"{total:.1f} s of CPU, grows at most as n^{worst[0]:.2f} ({worst[1]})",
            "10 s, n^1.1",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
