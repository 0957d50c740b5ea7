"""Make a trace of the tables of a recording and of the insides of calls that are opened.

What follows from the recording alone is made once. An opened call adds to it what it holds: making
a trace costs copies of tables, and otherwise no more than the insides have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from ...text.called_names import CalledNames
from ...text.source import SourceText
from ..compiled.opening import Opening
from ..ids import TensorId
from ..model import Trace
from ..naming import OperandWords, variable_names, variable_titles
from .asked import WordsNow, asked_calls
from .attributes import attributes_of
from .in_order import in_order
from .insides import Inside
from .joined import ClosedRun, Joined, together
from .tables import Tables

_when = attrgetter("when")


class Joining:
    """Makes the traces of one recording, with other calls opened each time."""

    def __init__(self, text: SourceText, called: CalledNames) -> None:
        self._text = text
        self._called = called
        self._whole: ClosedRun | None = None

    def forget(self) -> None:
        """Make all anew the next time: the recording went on."""
        self._whole = None

    def trace(
        self,
        tables: Tables,
        insides: Sequence[Inside],
        opening: Opening,
        facts: Mapping[str, Any],
        blob: bytes,
        is_kept: bool,
    ) -> Trace:
        """The trace with these insides, in the order in which they ran; see :class:`Reader`.

        Tables of the recording become those of the trace, unless it ``is_kept`` or they differ.
        """
        if self._whole is None:
            self._whole = ClosedRun(tables, self._text)
        joined = Joined(tables, insides, self._whole, is_kept=is_kept or bool(insides))
        bound, variables, parts = joined.bound, joined.variables, joined.parts
        titles = variable_titles(self._called, variables, joined.reader_of)
        attributes = partial(attributes_of, bound.bindings, self._text)
        words = variable_names(variables, bound.tensors, bound.of_modules, titles, attributes)
        given = variable_names(variables, bound.tensors, bound.of_modules) if titles else {}
        operands = OperandWords(self._text, bound.tensors, words)
        read = [each.functions for each in (tables, *parts)]
        sums = together(each.calls.sums for each in (tables, *parts))
        reads, touches, writes = joined.by_version()
        returned = tables.bodies.returned().items()
        return Trace(
            **facts,
            ops=joined.ops,
            recorded_ops=self._whole.recorded_ops,
            tensors=joined.tensors,
            producers=joined.producers,
            variables=variables,
            tapes=joined.tapes(self._text),
            calls=asked_calls(joined, WordsNow(operands, words), opening, self._text),
            bindings=tuple(bound.bindings),
            leaves=tuple(in_order(tables.leaves, [each.leaves for each in parts], _when)),
            caught=tuple(in_order(tables.caught, [each.caught for each in parts], _when)),
            names=bound.tensors,
            variable_names=words,
            given_names={words[id_]: given[id_] for id_ in titles},
            fetched={
                **{TensorId(tensor): TensorId(value) for tensor, value in returned},
                **joined.copies,
                **tables.fetched,
            },
            functions=self._whole.functions,
            loops=together(each.loops for each in read),
            conditionals=together(each.conditionals for each in read),
            predicates=together(each.predicates for each in read),
            reruns=joined.reruns,
            sums=sums,
            unread=joined.unread,
            words=joined.words(sums),
            blob=blob,
            places=joined.places,
            texts=joined.texts,
            sent_stats=joined.stats,
            samples=joined.samples,
            reads=reads,
            touches=touches,
            writes=writes,
        )
