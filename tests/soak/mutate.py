"""A recording and a random number generator in, a recording with something wrong in it out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tapeviz.trace.stored.file import Recording

Leaf = tuple[Any, Any]
"""Where a value stands: a dict or a list, and the key or index in it."""

_NUMBERS = (0, 1, -1, -2, 2, 7, 99, 4_000_000, -4_000_000, 1 << 31, 1 << 62, 1 << 70)
_WORDS = (
    "", "float32", "float64", "bool", "int32", "string", "resource", "variant", "bfloat16",
    "complex64", "object", "quint8", "Mul", "MatMul", "While", "If", "Identity", "AssignVariableOp",
    "ReadVariableOp", "gradient", "jacobian", "batch_jacobian", "jvp", "enter", "exit", "reset",
    "\ud800", "\x00", "x" * 10_000, "∂", "<b>&", "a\nb", "cond", "body", "exact", "beside",
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (None, True, 1.5, -0.0, 1e308, [], {}, [[]], [0], [None], "0", [[1, 2]])


def mutated(recording: Recording, random: Random) -> Recording:
    """The recording after one to four changes, each of a kind that damage or malice could make."""
    events = list(recording.events)
    blob = recording.blob
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        if random.random() < 0.04:
            blob = blob[: random.randrange(len(blob) + 1)]
        elif events:
            random.choice(CHANGES)(events, random)
    return replace(recording, events=tuple(events), blob=blob)


def _leaves(value: Any) -> Iterator[Leaf]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield (value, key)
        if isinstance(inner, (dict, list)):
            yield from _leaves(inner)


def _change_value(events: list[bytes], random: Random) -> None:
    """Change a value somewhere in an event, mostly an id that names something."""
    # Each kind of event as often as any other: of some there are few.
    kinds = {line[:12]: at for at, line in enumerate(events)}
    at = random.choice((random.randrange(len(events)), random.choice(sorted(kinds.values()))))
    try:
        event = json.loads(events[at])
    except ValueError:
        return
    if not isinstance(event, dict):
        return
    places = list(_leaves(event))
    holder, key = random.choice(places)
    value = holder[key]
    if isinstance(value, bool) or random.random() < 0.08:
        holder[key] = random.choice((*_OTHERS, True, False))
    elif isinstance(value, int):
        holder[key] = random.choice(
            (*_NUMBERS, value + 1, value - 1, -value, _some_id(events, random))
        )
    elif isinstance(value, str):
        holder[key] = random.choice(_WORDS)
    elif isinstance(value, list):
        _change_list(value, random)
    elif isinstance(holder, dict):
        del holder[key]
    events[at] = json.dumps(event).encode()


def _some_id(events: list[bytes], random: Random) -> int:
    try:
        event = json.loads(random.choice(events))
        number = event.get("id", 0)
    except (ValueError, AttributeError):
        return 0
    return number if isinstance(number, int) else 0


def _change_list(values: list[Any], random: Random) -> None:
    how = random.randrange(4)
    if how == 0 or not values:
        values.append(random.choice((*_NUMBERS[:8], *values[:1])))
    elif how == 1:
        values.pop(random.randrange(len(values)))
    elif how == 2:
        values.extend(values)
    else:
        random.shuffle(values)


def _drop(events: list[bytes], random: Random) -> None:
    start = random.randrange(len(events))
    del events[start : start + random.choice((1, 1, 1, 2, 5, 50))]


def _repeat(events: list[bytes], random: Random) -> None:
    events.insert(random.randrange(len(events) + 1), random.choice(events))


def _move(events: list[bytes], random: Random) -> None:
    event = events.pop(random.randrange(len(events)))
    events.insert(random.randrange(len(events) + 1), event)


def _change_byte(events: list[bytes], random: Random) -> None:
    at = random.randrange(len(events))
    line = bytearray(events[at] or b" ")
    line[random.randrange(len(line))] = random.randrange(256)
    events[at] = bytes(line).replace(b"\n", b" ")


CHANGES: tuple[Callable[[list[bytes], Random], None], ...] = (
    _change_value, _change_value, _change_value, _change_value, _drop, _repeat, _move, _change_byte,
)  # fmt: skip
