"""The picture in the pane of the graph: of the run, or of two runs side by side."""

from __future__ import annotations

from ..document import Document
from ..document.comparing import BEFORE, Comparing
from ..document.folding import Folding
from ..drawing import Arranged
from ..graph.model import NodeId
from ..scene.model import Scene


class ShownPicture:
    """The picture that one document draws."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def is_single(self) -> bool:
        """Whether it is the picture of one run, the document's."""
        return self._document.comparing.both is None

    @property
    def scene(self) -> Scene:
        both = self._document.comparing.both
        return self._document.scene if both is None else both.scene

    @property
    def arranged(self) -> Arranged:
        both = self._document.comparing.both
        return self._document.arranged if both is None else both.arranged

    @property
    def selected(self) -> frozenset[NodeId]:
        """The nodes of the picture that are selected."""
        comparing = self._document.comparing
        return self._document.selection.nodes if self.is_single else comparing.selected

    @property
    def folding(self) -> Folding | Comparing:
        """Opens and closes groups of the picture."""
        return self._document.folding if self.is_single else self._document.comparing

    def called(self, nodes: frozenset[NodeId]) -> frozenset[NodeId]:
        """Nodes of the document's run as the picture calls them: that run is the first of two."""
        return nodes if self.is_single else frozenset(BEFORE + node for node in nodes)
