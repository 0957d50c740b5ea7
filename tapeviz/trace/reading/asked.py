"""Give the gradient calls of a trace: those of the recording and those of opened functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from ...text.source import SourceText
from ..calls import Call
from ..compiled.bodies import AskedInGraph
from ..compiled.opening import Opening
from ..ids import CallId, OpId, VariableId
from ..naming import OperandWords
from .answers import AnswerReader
from .in_order import in_order
from .joined import Joined
from .worded import WordedCalls


@dataclass(frozen=True, slots=True)
class WordsNow:
    """The words for operands, and the names of variables that they are made of."""

    operands: OperandWords
    variables: Mapping[VariableId, str]


def asked_calls(
    joined: Joined, words: WordsNow, opening: Opening, text: SourceText
) -> tuple[Call, ...]:
    """Every gradient call, with its steps, the snippet's words for its operands, what was asked
    about it, and, of one made in a function, how often that ran."""
    tables = joined.tables
    named = {
        tensor: joined.bound.tensors[tensor]
        for part in joined.parts
        for tensor in part.names.tensors
        if tensor in tables.tensors
    }
    own = joined.whole.calls.all(words.operands, (words.variables, named))
    inner = [WordedCalls(text, part.calls).all(words.operands, ({}, {})) for part in joined.parts]
    calls = in_order(
        list(own.values()), [list(each.values()) for each in inner], attrgetter("when")
    )
    places = {call.id: place for place, call in enumerate(calls)}
    emitted = tables.bodies.emitted.union(*(inside.emitted for inside in joined.insides))
    for id_, about in tables.bodies.calls(emitted).items():
        if id_ in places:
            at = places[CallId(id_)]
            calls[at] = _of_graph(calls[at], joined, opening, about)
    reader = AnswerReader(tables.ids, joined.ops, joined.reruns)
    trackers = (tables.calls, *(part.calls for part in joined.parts))
    for id_, answers in tables.calls.answers.items():
        if id_ in places:
            at = places[id_]
            within = opening.representatives.get(tables.bodies.graph_of_call(id_), 0)
            steps = next(each.steps.get(id_, ()) for each in trackers if id_ in each.known)
            calls[at] = reader.with_answers(calls[at], steps, answers, within)
    return tuple(calls)


def _of_graph(call: Call, joined: Joined, opening: Opening, about: AskedInGraph) -> Call:
    """A gradient call with what is known of it as one that was made for a graph."""
    functions, (graph, count, in_branch, in_dataset) = joined.tables.functions, about
    within = opening.representatives.get(graph)
    shown = functions.stands_for(OpId(within)) if within is not None and count else None
    when = functions.traced_when.get(graph, 0)
    return replace(
        call,
        traced=graph,
        ran=count,
        in_branch=in_branch,
        in_dataset=in_dataset,
        within=shown,
        traced_when=when,
    )
