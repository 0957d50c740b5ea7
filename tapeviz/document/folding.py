"""Open, close and turn groups: each gives another view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.backward.steps import WalkStep
from ..graph.groups.fold import GROUP_PREFIX
from ..graph.groups.turns import other_turns
from ..graph.model import NodeId
from ..view import View

if TYPE_CHECKING:
    from .document import Document


class Folding:
    """Opens and closes groups in the picture of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def unfold(self, node: NodeId) -> bool:
        """Open a folded group; returns False if the node is none. For a compiled call whose inside
        is not known yet, ask for that first."""
        links = self._document.links
        path = links.closed_path(node)
        call = links.unknown_call(node)
        if call is not None and self._document.insides.look(call, path):
            return True
        if path:
            self._take(self._document.view.opened(path))
        return bool(path)

    def fold(self, node: NodeId) -> bool:
        """Close the group that a node is in; returns False if it is in none."""
        path = self._document.links.open_path(node)
        if path:
            self.fold_group(path)
            # Selected, so that the next one goes on from there.
            self._document.selecting.select_nodes(frozenset((GROUP_PREFIX + path,)))
        return bool(path)

    def fold_group(self, path: str) -> None:
        """Close an open group by its path."""
        self._take(self._document.view.closed(path))

    def _take(self, view: View) -> None:
        self._document.change_form(folded=view.folded, unfolded=view.unfolded)

    def show_turn(self, path: str, turn: int) -> None:
        """Show a turn (from 1) of a repeat, which opens."""
        view = self._document.view.turned({path: max(1, turn)})
        is_folded = any(node.opens == path for node in self._document.links.nodes.values())
        self._document.change_form(
            turns=view.turns,
            folded=view.folded - {path},
            unfolded=view.unfolded | {path} if is_folded else view.unfolded,
        )

    def show_turns_of(self, step: WalkStep) -> None:
        """Show the turns of compiled loops that a step is in, of loops that stand open."""
        document, links = self._document, self._document.links
        node = links.nodes.get(links.node_of_step(step) or "") if step.turns else None
        if node is None:
            return
        turns = other_turns(document.arranged.graph, node.group, step.turns)
        if turns:
            document.change_form(turns=document.view.turned(turns).turns)
