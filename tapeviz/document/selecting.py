"""Select what the user looks at, and note what the pointer is over: nodes, lines and tensors.

One of them leads to the others, through the links of the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..analysis.findings import Cause
from ..graph.model import NodeId
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.sites import StackFrame

if TYPE_CHECKING:
    from .document import Document

ShownSide = Literal["value", "gradient"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The user's selection. ``tensor``: shown by the inspector, as forward value or gradient."""

    nodes: frozenset[NodeId] = frozenset()
    line: int = 0
    tensor: TensorId | None = None
    side: ShownSide = "value"


NOTHING_SELECTED = Selection()


class Selecting:
    """The selection of one document, and what is pointed at in it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.selection: Selection = NOTHING_SELECTED
        self.hovered: frozenset[NodeId] = frozenset()
        """The nodes of what the pointer is over, in any panel."""
        self._hovered_spans: tuple[StackFrame, ...] = ()

    def select(self, selection: Selection) -> None:
        if selection != self.selection:
            self.selection = selection
            nodes = selection.nodes
            self._document.change_overlay(
                replace(self._document.view.overlay, selected_nodes=nodes)
            )
            self._document.selection_changed.emit()

    def select_nodes(self, nodes: frozenset[NodeId]) -> None:
        links = self._document.links
        tensor = links.tensor_of(nodes)
        self.select(Selection(nodes, links.line_of(nodes), tensor, self.selection.side))

    def select_line(self, line: int) -> None:
        """Select the nodes of a line of the present text."""
        document = self._document
        then = document.text.line_then(line)
        nodes = document.links.nodes_on(then)
        tensor = document.links.tensor_of(nodes) if nodes else self.selection.tensor
        self.select(Selection(nodes, then if nodes else 0, tensor, self.selection.side))

    def go_to_line(self, line: int) -> None:
        """Select a line of the text that ran, and let the editor go there."""
        now = self._document.text.line_now(line)
        if now:
            self.select_line(now)
            self._document.line_requested.emit(now)

    def select_tensor(self, tensor: TensorId | None, side: ShownSide = "value") -> None:
        links = self._document.links
        node = links.node_of_tensor(tensor)
        nodes = frozenset((node,)) if node else self.selection.nodes
        self.select(Selection(nodes, links.line_of(nodes), tensor, side))

    def set_side(self, side: ShownSide) -> None:
        self.select(replace(self.selection, side=side))

    def show_cause(self, cause: Cause) -> None:
        """Select the nodes at a cut and bring them into sight."""
        nodes = self._document.links.nodes_of_cause(cause)
        if nodes:
            self.select_nodes(nodes)
            self._document.reveal_requested.emit(nodes)
        else:
            self.select(replace(self.selection, nodes=frozenset(), line=cause.line))

    # Another picture

    def forget(self) -> None:
        """Select nothing: what was selected is of another run. The caller tells the panels."""
        self.selection = NOTHING_SELECTED

    def keep_within(self, trace: Trace) -> None:
        """Let go a tensor that another trace of the same run lacks. The caller tells the panels."""
        if self.selection.tensor not in trace.tensors:
            self.selection = replace(self.selection, tensor=None)

    def follow(self, successors: Mapping[NodeId, NodeId]) -> None:
        """Keep the selection when the graph of another call replaces this one; drop it if that has
        no counterpart. ``successors``: node of the old graph → node of the new one."""
        links, selection = self._document.links, self.selection
        nodes = frozenset(successors[node] for node in selection.nodes if node in successors)
        if nodes:
            self.select(replace(selection, nodes=nodes, tensor=links.tensor_of(nodes)))
        elif links.node_of_tensor(selection.tensor) is None:
            self.select(Selection(line=selection.line, side=selection.side))

    # The pointer

    def hover(self, nodes: frozenset[NodeId], spans: tuple[StackFrame, ...] = ()) -> None:
        """Note that the pointer is over something that these nodes stand for (empty: nothing).

        ``spans``: its places in the text, where the nodes alone do not tell them.
        """
        if (nodes, spans) != (self.hovered, self._hovered_spans):
            self.hovered, self._hovered_spans = nodes, spans
            self._document.hover_changed.emit()

    @property
    def lit_spans(self) -> tuple[StackFrame, ...]:
        """The places, in the text that ran, of what is pointed at, else of what is selected."""
        links = self._document.links
        return self._hovered_spans or links.spans_of(self.hovered or self.selection.nodes)
