"""Do in the document what is clicked, pressed and chosen in the picture."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from ..canvas.neighbours import Direction, neighbour
from ..canvas.view import GraphView
from ..document import Document
from .shown_picture import ShownPicture


class GraphClicks(QObject):
    """Listens to one view of the graph."""

    def __init__(self, document: Document, view: GraphView, drawn: ShownPicture) -> None:
        super().__init__(view)
        self._document = document
        self._view = view
        self._drawn = drawn
        view.can_fold = self._can_fold
        view.node_clicked.connect(self._click)
        view.node_activated.connect(self._activate)
        view.node_hovered.connect(self._hover)
        view.node_folded.connect(document.folding.fold)
        view.frame_clicked.connect(self._click_frame)
        view.left.connect(document.comparing.leave)
        view.menu_requested.connect(self._offer)
        view.nodes_framed.connect(document.selecting.select_nodes)
        view.neighbour_requested.connect(self._go)

    def _click(self, node: str, adds: bool) -> None:
        selecting = self._document.selecting
        if not self._drawn.is_single:
            self._document.comparing.pick(node)
        elif not node:
            selecting.select_nodes(frozenset())
        else:
            chosen = selecting.selection.nodes
            selecting.select_nodes(chosen ^ {node} if adds else frozenset((node,)))

    def _hover(self, node: str) -> None:
        if self._drawn.is_single:
            self._document.selecting.hover(frozenset((node,)) if node else frozenset())

    def _activate(self, node: str) -> None:
        """Open or close a group, or zoom to another node."""
        nodes = frozenset((node,)) if node else self._drawn.selected
        first = node or next(iter(nodes), "")
        if not self._drawn.folding.unfold(first) and nodes:
            self._view.zoom_to(nodes)

    def _can_fold(self, node: str) -> bool:
        return self._drawn.is_single and bool(self._document.links.open_path(node))

    def _click_frame(self, path: str, button: str) -> None:
        """Fold a frame, or show the turn before or after."""
        frames = self._drawn.scene.frames
        frame = next((frame for frame in frames if frame.path == path), None)
        if frame is None:
            return
        if button == "fold":
            self._drawn.folding.fold_group(path)
            return
        turn = frame.turn + (1 if button == "forward" else -1)
        if 1 <= turn <= frame.count:
            self._document.folding.show_turn(path, turn)

    def _go(self, direction: Direction) -> None:
        prepared, graph = self._view.prepared, self._drawn.arranged.graph
        if not prepared.scene.boxes:
            return
        at = next((node for node in self._drawn.selected if node in prepared.indices), None)
        first = prepared.scene.boxes[0].node
        goal = first if at is None else neighbour(prepared, graph, at, direction)
        if goal is not None:
            self._click(goal, False)

    def _offer(self, node: str, at: QPoint) -> None:
        """Open a menu of what can be done with a node, at the pointer."""
        document, known = self._document, self._document.links.nodes.get(node)
        if known is None:
            return
        nodes, line = frozenset((node,)), known.line
        document.selecting.select_nodes(nodes)
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if known.role == "group":
            menu.addAction("Unfold", lambda: document.folding.unfold(node))
        if document.links.open_path(node):
            menu.addAction("Fold its group", lambda: document.folding.fold(node))
        menu.addAction("Copy its name", lambda: _copy(known.name or known.title))
        menu.addAction("Zoom to it", lambda: self._view.zoom_to(nodes))
        if line:
            menu.addAction(f"Go to line {line}", lambda: document.selecting.go_to_line(line))
        if document.links.steps_of(nodes):
            menu.addAction("Walk to it", document.stepping.to_selection)
        menu.popup(at)


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
