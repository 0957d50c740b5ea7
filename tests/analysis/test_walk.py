from __future__ import annotations

from tapeviz.analysis.diagnose import diagnose
from tapeviz.trace import events as e

from ..traces import Script


def test_an_op_whose_gradient_function_gives_nothing_has_one_row() -> None:
    s = Script()
    x = s.variable("x", value=1.5, line=1)
    tape = s.tape(line=2)
    rounded = s.op("Round", [s.read(x, line=3)], line=3)
    loss = s.op("Square", [rounded], line=4)
    s.exit(tape)
    with s.call(tape, [loss], [x], line=5) as results:
        upstream, downstream = s.tensor(value=1.0), s.tensor(value=4.0)
        s.step(4, [upstream], [downstream])
        s.step(3, [downstream], [e.NONE])
        results.append(e.NONE)
    (call,) = diagnose(s.trace()).calls
    rows = [(row.kind, row.title, row.upstream) for row in call.steps]
    assert rows == [("op", "Square", (upstream,)), ("stop", "Round", (downstream,))]
