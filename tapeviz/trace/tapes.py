"""Tell which tape recorded which op.

TensorFlow's rule (``GradientTape::RecordOperation`` and ``ShouldRecord`` in ``tape.h``, 2.15–2.21):
a tape that is recording on the op's thread keeps an op when one of its inputs is on that tape and
of a dtype that has gradients; then all outputs of the op are on it, too. A trainable variable goes
onto every recording tape with ``watch_accessed_variables`` when it is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import cast

from .ids import TapeId, TensorId
from .model import Interval, Tape, Watch
from .ops import Op
from .sites import Site

_HANDLES = frozenset(("resource", "variant"))
_DIFFERENTIABLE = _HANDLES | frozenset(
    ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
)
FOREVER = 1 << 62


def is_differentiable(dtype: str) -> bool:
    """Whether a tape follows tensors of this dtype (``IsDtypeTrainable`` in ``tape.h``)."""
    return dtype in _DIFFERENTIABLE


def is_handle(dtype: str) -> bool:
    """Whether tensors of this dtype stand for a list, a dataset or a variable, without elements."""
    return dtype in _HANDLES


@dataclass(slots=True)
class _Open:
    tape: Tape
    on_tape: set[TensorId] = field(default_factory=set)
    intervals: list[Interval] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    since: int | None = None
    why: str = ""
    site: Site | None = None
    thread: int = 0
    resets: list[int] = field(default_factory=list)
    """The moments at which it forgot all that it followed."""

    def tape_so_far(self, name: str) -> Tape:
        intervals = list(self.intervals)
        if self.since is not None:
            intervals.append(self.interval(FOREVER, "", Site(self.tape.site.id)))
        return replace(
            self.tape,
            name=name,
            intervals=tuple(intervals),
            watches=tuple(self.watches),
            thread=self.thread,
        )

    def interval(self, end: int, why: str, site: Site) -> Interval:
        assert self.since is not None
        return Interval(self.since, end, self.why, why, self.site or site, site)


class _OnTape(set[TensorId]):
    """The tensors that a tape follows inside of a call: also those that it did when that began."""

    def __init__(self, followed_before: Callable[[TensorId], bool]) -> None:
        super().__init__()
        self._followed_before = followed_before

    def __contains__(self, tensor: object) -> bool:
        return super().__contains__(tensor) or self._followed_before(cast("TensorId", tensor))

    def clear(self) -> None:
        super().clear()
        self._followed_before = lambda tensor: False


class TapeTracker:
    """Follows every tape through its life."""

    def __init__(self) -> None:
        self._tapes: dict[TapeId, _Open] = {}
        self._recording: list[_Open] = []
        self._sets: dict[frozenset[TapeId], frozenset[TapeId]] = {}
        """Each set once: an op holds one."""
        self._groups: dict[tuple[TapeId, ...], tuple[TapeId, ...]] = {}

    @property
    def recording(self) -> tuple[TapeId, ...]:
        """The tapes that record now, each set of them once."""
        now = tuple(known.tape.id for known in self._recording)
        return self._groups.setdefault(now, now)

    def inside(
        self, recording: Sequence[TapeId], began: int, made_by: Callable[[TensorId], Op | None]
    ) -> TapeTracker:
        """A tracker for the inside of a call, which ``began`` at this moment while these tapes
        recorded: it leaves this one as it is."""
        inner = TapeTracker()
        for tape in recording:
            known = self._tapes[tape]
            since = max((when for when in known.resets if when < began), default=0)
            watched = {watch.tensor for watch in known.watches if since < watch.when < began}

            def followed(
                tensor: TensorId,
                tape: TapeId = tape,
                watched: Set[TensorId] = watched,
                reset: int = since,
            ) -> bool:
                maker = made_by(tensor)
                return tensor in watched or (
                    maker is not None and tape in maker.tapes and maker.when > reset
                )

            inner._tapes[tape] = copied = _Open(known.tape, _OnTape(followed))
            copied.since, copied.why, copied.site = known.tape.when, known.why, known.site
            copied.thread = known.thread
            inner._recording.append(copied)
        return inner

    def opened(self, tape: Tape) -> None:
        self._tapes[tape.id] = _Open(tape)

    def turned(
        self, tape: TapeId, on: bool, why: str, when: int, site: Site, thread: int = 0
    ) -> None:
        known = self._tapes.get(tape)
        if known is None:
            return
        if why == "reset":
            known.on_tape.clear()
            known.resets.append(when)
        if on and known.since is None:
            known.since, known.why, known.site, known.thread = when, why, site, thread
            self._recording.append(known)
        elif not on and known.since is not None:
            known.intervals.append(known.interval(when, why, site))
            known.since = None
            self._recording.remove(known)

    def ended(self) -> None:
        """Forget what each tape followed, which is most of a trace's ids: none records any more."""
        for known in self._tapes.values():
            known.on_tape.clear()

    def watched(self, watch: Watch) -> None:
        known = self._tapes.get(watch.tape)
        if known is not None:
            known.on_tape.add(watch.tensor)
            known.watches.append(watch)

    def read_variable(self, handle: TensorId, when: int, site: Site, thread: int) -> None:
        """A trainable variable was read: it goes onto the tapes that watch by themselves."""
        for recording in self._recording:
            is_here = recording.tape.watches_variables and recording.thread == thread
            if is_here and handle not in recording.on_tape:
                recording.on_tape.add(handle)
                recording.watches.append(
                    Watch(recording.tape.id, handle, when, site, automatic=True)
                )

    def recorded(
        self, inputs: Sequence[tuple[TensorId, str]], outputs: Sequence[TensorId], thread: int
    ) -> frozenset[TapeId]:
        """The tapes that keep an op with these inputs (id, dtype); its outputs join them."""
        keeping = []
        for recording in self._recording:
            if recording.thread != thread:
                continue
            on_tape = recording.on_tape
            for tensor, dtype in inputs:
                if tensor in on_tape and dtype in _DIFFERENTIABLE:
                    on_tape.update(outputs)
                    keeping.append(recording.tape.id)
                    break
        found = frozenset(keeping)
        return self._sets.setdefault(found, found)

    @property
    def is_any_recording(self) -> bool:
        return bool(self._recording)

    def tapes(self, name_of: Callable[[Tape], str]) -> dict[TapeId, Tape]:
        return {
            identity: known.tape_so_far(name_of(known.tape))
            for identity, known in self._tapes.items()
        }


def with_watches(tape: Tape, more: Sequence[Watch]) -> Tape:
    """The tape with what it followed inside of a call, which nobody had seen from outside: there it
    is as if the call itself had been first to read a variable."""
    since = more[0].when
    own = {watch.tensor for watch in more if watch.automatic}
    at = bisect_right(tape.watches, since, key=attrgetter("when"))
    before, after = tape.watches[:at], tape.watches[at:]
    after = tuple(each for each in after if not (each.automatic and each.tensor in own))
    return replace(tape, watches=(*before, *more, *after))
