"""Calls of compiled functions in; the values of their inside, as they ran again compiled, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tapeviz.trace import events as e

from .conftest import Recorded
from .rerun_constructs import CONSTRUCTS, SETUP, UNKNOWN

Record = Callable[..., Recorded]
_GROUPS = 4
EAGERLY = "tf.config.run_functions_eagerly(True)\n"


def _program(bodies: dict[str, str], calls: int) -> str:
    """Each body as a function of ``x``, called several times."""
    lines = [SETUP]
    for number, body in enumerate(bodies.values()):
        lines += ["@tf.function", f"def f{number}(x):", *(f"    {one}" for one in body.split("\n"))]
    lines += [f"for step in range({calls}):"]
    lines += [f"    f{number}(x + 0.25 * step)" for number in range(len(bodies))]
    return "\n".join(lines)


def calls_of(seen: Recorded) -> Iterator[tuple[e.BodiesRun, e.OpRan]]:
    """The eager calls of traced functions, each with its op."""
    pending = None
    for event in seen.events:
        if isinstance(event, e.BodiesRun) and not event.into:
            pending = event
        elif pending is not None and isinstance(event, e.OpRan) and not event.graph:
            yield pending, event
            pending = None


def look(seen: Recorded, op: int, **asked: Any) -> e.InsideComputed:
    """Ask for a call's inside; what came with the answer is added to the recording."""
    answer, buffers = seen.ask("inside", op=op, **asked)
    assert "error" not in answer, answer
    events = [e.decode(line) for line in answer["events"]]
    seen.events += events
    seen.blob += b"".join(buffers)
    return next(one for one in events if isinstance(one, e.InsideComputed))


def _group(number: int) -> dict[str, str]:
    names = sorted(CONSTRUCTS)[number::_GROUPS]
    return {name: CONSTRUCTS[name] for name in names}


@pytest.mark.parametrize("group", range(_GROUPS))
def test_any_call_runs_again_with_the_same_bits(record: Record, group: int) -> None:
    bodies = _group(group)
    seen = record(_program(bodies, calls=3))
    assert not seen.of(e.Noted)
    assert not seen.of(e.Raised), seen.of(e.Raised)
    calls = list(calls_of(seen))
    assert len(calls) == 3 * len(bodies)
    for (run, op), name in zip(calls, list(bodies) * 3, strict=True):
        if run.call == 1:
            continue
        inside = look(seen, op.id)
        words = {word for _, _, _, word in inside.values}
        assert (inside.op, inside.call, inside.of) == (op.id, run.call, 3), name
        assert inside.graph == run.graphs[0]
        if name in UNKNOWN:
            assert "unknown" in words, name
            assert inside.state != "differs"
        else:
            assert (name, inside.state) == (name, "equal"), inside.why
            assert words <= {"exact", "beside"}, (name, words)


def _named(seen: Recorded) -> dict[int, list[int]]:
    """The tensors that ``y`` was bound to on each line."""
    found: dict[int, list[int]] = {}
    for bound in seen.of(e.NameBound):
        if bound.name == "y":
            found.setdefault(seen.line(bound.site), []).extend(one for one, _ in bound.tensors)
    return found


def test_values_are_those_of_the_body_run_by_python(record: Record) -> None:
    bodies = {name: body for name, body in CONSTRUCTS.items() if "y = " in body}
    text = _program(bodies, calls=2)
    compiled = record(text)
    eager = record(text.replace(SETUP, SETUP + "\n" + EAGERLY.strip()))
    values: dict[int, list[tuple[list[Any], int]]] = {}
    for run, op in calls_of(compiled):
        for path, symbol, tensor, _ in look(compiled, op.id).values:
            values.setdefault(symbol, []).append(([run.call, *path], tensor))
    compared = 0
    for line, tensors in _named(eager).items():
        symbols = set(_named(compiled).get(line - 1, ()))
        told = sorted(one for symbol in symbols for one in values.get(symbol, ()))
        if len(told) != len(tensors):
            continue  # a name that two traces or branches share
        for (path, mine), theirs in zip(told, tensors, strict=True):
            expected = eager.value(theirs)
            if mine and expected.dtype.kind == "f":
                got = compiled.value(mine)
                np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6, err_msg=f"{path}")
                compared += 1
    assert compared > 4 * len(bodies)
