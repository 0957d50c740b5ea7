"""Train by the probability of a sequence in place of what a decoder of CTC gives."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, with_arguments
from ..plan import Plan
from ..source import ParsedSource

DECODERS = ("ctc_greedy_decoder", "ctc_beam_search_decoder")


def ctc_loss(case: FixCase) -> Iterator[Edit]:
    """``tf.edit_distance(decoded[0], truth)`` → ``tf.nn.ctc_loss`` of ``truth`` by the logits."""
    source = case.source
    plan = Plan(source)
    for decoder in case.calls(*DECODERS):
        distances = source.calls_to("edit_distance")
        for distance, (decoded, truth) in with_arguments(distances, "hypothesis", "truth"):
            names = {node.value for node in all_of(decoded, cst.Name)}
            if names & _names_of(source, decoder):
                sequences = source.code(truth)
                plan.replace(distance, loss_of_sequences(source, decoder, sequences))
    title = "Estimate: the CTC loss of the true sequence, in place of a distance to the decoded"
    yield from plan.edits(title, has_other_value=True)


def _names_of(source: ParsedSource, decoder: cst.Call) -> set[str]:
    """The names that hold what a decoder gave."""
    assign = source.enclosing(decoder, cst.Assign)
    return {name.value for name in all_of(assign.targets[0], cst.Name)} if assign else set()


def loss_of_sequences(source: ParsedSource, decoder: cst.Call, sequences: str) -> str:
    """``tf.nn.ctc_loss`` of sparse sequences by what the decoder was given. Its blank is the last
    class, as that of the decoders is."""
    given, lengths = argument(decoder, 0, "inputs"), argument(decoder, 1, "sequence_length")
    if given is None or lengths is None:
        return ""
    tf, code = source.tf, source.code
    labels = f"{tf}.cast({sequences}, {tf}.int32)"
    by = f"{code(given)}, None, {code(lengths)}"
    return f"{tf}.nn.ctc_loss({labels}, {by}, blank_index=-1)"
