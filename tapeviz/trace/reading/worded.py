"""Give gradient calls their steps, and the snippet's words for their operands."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ...text.source import SourceText
from ..calls import Call, Operand
from ..ids import CallId, TensorId, VariableId
from ..naming import OperandWords
from .calls import CallTracker, RawOperands

KnownNames = tuple[Mapping[VariableId, str], Mapping[TensorId, tuple[str, ...]]]
"""The names of variables, and those of tensors that the inside of an opened call named, too."""


class WordedCalls:
    """The calls of one tracker. Those whose operands are called the same are kept."""

    def __init__(self, text: SourceText, tracker: CallTracker) -> None:
        self._text = text
        self._tracker = tracker
        self._calls: dict[CallId, Call] = {}
        self._names: KnownNames = ({}, {})

    def all(self, words: OperandWords, names: KnownNames) -> Mapping[CallId, Call]:
        """Each call as it ended. ``names``: what the words are made of, as far as it may differ
        from one time to the next."""
        if not self._calls:
            wanted: Iterable[CallId] = self._tracker.known
        else:
            variables = names[0].items() ^ self._names[0].items()
            tensors = names[1].items() ^ self._names[1].items()
            changed = {each for each, _ in (*variables, *tensors)}
            wanted = (
                {call for each in changed for call in self._askers.get(each, ())} if changed else ()
            )
        self._names = names
        self._calls.update(self._worded(wanted, words))
        return self._calls

    @cached_property
    def _askers(self) -> Mapping[int, Sequence[CallId]]:
        """The calls that have each tensor as an operand."""
        found: dict[int, list[CallId]] = {}
        for call, given in self._tracker.operands.items():
            for operands in given:
                for operand in operands:
                    found.setdefault(operand.tensor, []).append(call)
        return found

    def _worded(
        self, calls: Iterable[CallId], words: OperandWords
    ) -> Iterable[tuple[CallId, Call]]:
        named: dict[tuple[int, ast.expr | None], tuple[Operand, ...]] = {}

        def operands(raw: RawOperands, expression: ast.expr | None) -> tuple[Operand, ...]:
            key = id(raw), expression
            if key not in named:
                named[key] = tuple([words.operand(operand, expression) for operand in raw])
            return named[key]

        for id_ in calls:
            call = self._tracker.known[id_]
            given = self._tracker.operands[id_]
            node = None
            if call.is_direct and call.site.frames:
                node = self._text.call_at(call.site.frames[0].span, call.method)
            targets = self._text.operands(node, "target")
            sources = self._text.operands(node, "sources")
            if call.is_forward:  # is given outputs; the accumulator knows its primals
                targets, sources = None, targets
            yield (
                id_,
                replace(
                    call,
                    steps=tuple(self._tracker.steps.get(id_, ())),
                    targets=operands(given[0], targets),
                    sources=operands(given[1], sources),
                    output_gradients=operands(given[2], None),
                ),
            )
