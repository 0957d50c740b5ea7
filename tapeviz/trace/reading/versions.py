"""Put the reads and writes inside of opened calls among the versions of the variables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..ids import OpId, TensorId, VariableId
from ..state import OpenVersion
from ..variables import Variable, Version

_Id = TypeVar("_Id", TensorId, OpId)


@dataclass(frozen=True, slots=True)
class Touched:
    """The reads and writes inside of a call. ``ran_as``: the op that was the call; ``stands``: the
    op that stands for it; ``versions``: see :meth:`VersionTracker.touched`."""

    ran_as: OpId
    stands: OpId
    versions: Mapping[VariableId, Sequence[OpenVersion]]


@dataclass(slots=True)
class _Versions:
    """The versions of one variable. ``changed``: the places of those that are not as they were;
    ``moved``: from this place on all have other places; ``by``: how far."""

    all: list[Version]
    changed: set[int] = field(default_factory=set)
    moved: int | None = None
    by: int = 0


def with_insides(
    variables: Mapping[VariableId, Variable],
    calls: Sequence[Touched],
    read_when: Callable[[TensorId], int],
    ran_when: Callable[[OpId], int],
) -> tuple[Mapping[VariableId, Variable], list[Version]]:
    """The variables, as calls in the order in which they ran touched them inside, and the versions
    that are new or changed. ``read_when``: the moment at which a tensor was read."""
    if not calls:
        return variables, []
    known: dict[VariableId, _Versions] = {}
    for call in calls:
        for handle, touched in call.versions.items():
            if handle in variables and touched and variables[handle].versions:
                if handle not in known:
                    known[handle] = _Versions([*variables[handle].versions])
                _put(known[handle], handle, call, touched, read_when, ran_when)
    found, changed = dict(variables), list[Version]()
    for handle, versions in known.items():
        moved = versions.moved if versions.moved is not None else len(versions.all)
        for place in (
            *sorted(at for at in versions.changed if at < moved),
            *range(moved, len(versions.all)),
        ):
            versions.all[place] = replace(versions.all[place], index=place)
            changed.append(versions.all[place])
        found[handle] = replace(variables[handle], versions=tuple(versions.all))
    return found, changed


def _put(
    versions: _Versions,
    handle: VariableId,
    call: Touched,
    touched: Sequence[OpenVersion],
    read_when: Callable[[TensorId], int],
    ran_when: Callable[[OpId], int],
) -> None:
    """Put what one call did into the versions: in place of those that it made as a whole."""
    before, *made = touched
    all_, place = versions.all, before.index + versions.by
    if not 0 <= place < len(all_):
        return
    count = 0
    while place + 1 + count < len(all_) and all_[place + 1 + count].op == call.stands:
        count += 1
    old = all_[place]
    if before.op is not None and old.op == call.stands:  # the call gave the first value
        old = replace(old, op=before.op, value=before.value)
    ops = [op for op in before.touched_by if op != call.ran_as]
    old = _seen(old, before.reads, ops, read_when, ran_when)
    new = [version.version(handle) for version in made]
    new = [_without(version, call.ran_as) for version in new]
    if count:
        after = all_[place + count]
        if new:
            new[-1] = _seen(new[-1], after.reads, after.touched_by, read_when, ran_when)
        else:
            old = _seen(old, after.reads, after.touched_by, read_when, ran_when)
    all_[place : place + 1 + count] = [old, *new]
    versions.changed.update(range(place, place + 1 + len(new)))
    if len(new) != count:
        versions.by += len(new) - count
        first = place + 1 + len(new)
        versions.moved = first if versions.moved is None else min(versions.moved, first)


def _without(version: Version, op: OpId) -> Version:
    if op not in version.touched_by:
        return version
    return replace(version, touched_by=tuple(each for each in version.touched_by if each != op))


def _seen(
    version: Version,
    reads: Sequence[TensorId],
    ops: Sequence[OpId],
    read_when: Callable[[TensorId], int],
    ran_when: Callable[[OpId], int],
) -> Version:
    """A version that was also read and touched by these, which happened one after the other."""
    return replace(
        version,
        reads=_among(version.reads, reads, read_when),
        touched_by=_among(version.touched_by, ops, ran_when),
    )


def _among(
    known: tuple[_Id, ...], more: Sequence[_Id], when: Callable[[_Id], int]
) -> tuple[_Id, ...]:
    if not more:
        return known
    at: int = bisect_left(known, when(more[0]), key=when)
    return known[:at] + tuple(more) + known[at:]
