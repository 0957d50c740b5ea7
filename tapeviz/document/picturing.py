"""Make the picture of a document: the graph laid out, the scene over it, and what they link.

Each is made again only when one of its inputs is another object; large ones in the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..analysis.model import CallDiagnosis
from ..drawing import Arranged
from ..graph.model import NodeId
from ..scene.model import EMPTY_SCENE, Scene
from ..trace.model import EMPTY_TRACE, Trace
from ..view import DEFAULT_VIEW, View
from .background import are_same
from .links import Links, groups_in
from .pipeline import NOTHING_ARRANGED

if TYPE_CHECKING:
    from .document import Document

SMALL = 150
"""Boxes up to which another round is drawn at once; a larger picture is made in the background."""
FEW_INSIDE = 1_000
"""Nodes folded into these boxes, up to which it is: a few hundredths of a second's work at most."""
QUICK = 5_000
"""Ops of a trace up to which a picture waits for an inside that it lacks: that takes about as long
as to diagnose the trace, here less than a second."""


class Picturing:
    """The one picture of a document. ``form``: the view without its overlay, which is all that a
    layout depends on."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.form = DEFAULT_VIEW
        self.arranged: Arranged = NOTHING_ARRANGED
        self.scene: Scene = EMPTY_SCENE
        self.links = Links(NOTHING_ARRANGED, EMPTY_TRACE, None)
        self._arranged_from: tuple[object, ...] = ()
        self._composed_from: tuple[object, ...] = ()
        self._scene_from: tuple[object, ...] = ()
        """The base of the scene: graph, trace, call, and whether it has the bridge. Another step or
        selection over it costs little."""
        self._linked_from: tuple[object, ...] = ()
        self._groups: tuple[Arranged, Mapping[NodeId, NodeId]] = (NOTHING_ARRANGED, {})
        """An arrangement, and for each node folded away in it the group that stands for it."""
        self._held: Arranged | None = None
        """An arrangement that is shown when the insides that it lacks have come, or do not come."""
        self._before: Trace | None = None
        """The trace of the run before, while the picture is of that run: it stays until this run
        has one. Ids name other ops and variables in it, so nothing is looked up or composed."""

    def clear(self) -> None:
        """Show no picture."""
        self._document.background.drop("arrange", "compose")
        self.arranged = NOTHING_ARRANGED
        self._before = self._held = None
        self.begin_anew()
        self.relink()
        self.scene = EMPTY_SCENE
        self._document.arrangement_changed.emit()
        self._document.scene_changed.emit()

    def keep_until_next_run(self) -> None:
        """Keep showing the picture, as one of the run before: another run begins."""
        self._document.background.drop("arrange", "compose")
        self._before, self._held = self._document.trace, None

    def begin_anew(self) -> None:
        """Let the next :meth:`arrange` and :meth:`compose` work, whatever was drawn before."""
        self._arranged_from = self._composed_from = self._scene_from = ()

    def pin_call(self, call: int) -> None:
        """Keep the picture: it is of this call, which was shown for want of a choice."""
        if self._arranged_from:
            self._arranged_from = (*self._arranged_from[:2], call)

    def arrange(self, *, is_same_run: bool = False) -> None:
        """Fold and lay out the graph, if trace, form or call are other ones; the scene follows.

        ``is_same_run``: the trace is of the run that is drawn, with more of it known: what stands
        open there stays open."""
        document = self._document
        wanted = (document.trace, self.form, document.view.overlay.call)
        if document.trace is EMPTY_TRACE or are_same(wanted, self._arranged_from):
            return
        if document.is_running and document.trace is self._before:
            return  # the first trace of this run is arranged in the form of then
        is_alike = self._stays_alike()
        is_known = bool(self._arranged_from) and self._arranged_from[0] is document.trace
        is_known |= is_same_run and self._before is None
        before = self.arranged if is_known and self.arranged is not NOTHING_ARRANGED else None
        self._arranged_from, self._held = wanted, None
        work = partial(self._arranged, *wanted, before)
        if is_alike and _is_small(self.arranged):
            document.background.drop("arrange")
            self.take_arranged(work())
        else:
            document.background.submit("arrange", work, self.take_arranged)

    def _arranged(self, *inputs: Any) -> Arranged:
        """Arrange, and index what is folded away: of a long tape a tenth of a second's work, which
        the window's thread would do otherwise."""
        arranged: Arranged = self._document.stages.arrange(*inputs)
        self._groups = arranged, groups_in(arranged)
        return arranged

    def _stays_alike(self) -> bool:
        """Whether the picture differs from the one before by its call or a turn of a loop only."""
        if not self._arranged_from or self.arranged is NOTHING_ARRANGED:
            return False
        trace, form, _ = self._arranged_from
        is_form = isinstance(form, View) and replace(form, turns=self.form.turns) == self.form
        return trace is self._document.trace and is_form

    def take_arranged(self, arranged: Arranged) -> None:
        """Show an arranged graph. If a call stands open in it that was not looked into yet, the
        picture of now stays until it was, so that the eye sees one change; of a large trace that
        would take too long."""
        self._held = None
        insides = self._document.insides
        if self._before is not None or self.arranged is NOTHING_ARRANGED:
            self._show(arranged)
            insides.look_at_open(self.arranged)  # what comes is arranged after this picture
        elif insides.look_at_open(arranged) and len(self._document.trace.ops) <= QUICK:
            self._held = arranged
        else:
            self._show(arranged)

    def take_held(self) -> None:
        """Show what waits for insides: they do not come."""
        held, self._held = self._held, None
        if held is not None:
            self._show(held)

    def _show(self, arranged: Arranged) -> None:
        self.arranged = arranged
        self._before = None
        self.relink()
        self._document.selecting.follow(arranged.successors)
        self._document.arrangement_changed.emit()
        self.compose()
        self.arrange()

    def take_ready(self, arranged: Arranged, call: int | None) -> None:
        """Take a graph that was laid out with the trace and the form of now."""
        self._arranged_from = (self._document.trace, self.form, call)
        self._document.background.drop("arrange")
        self.take_arranged(arranged)

    def compose(self) -> None:
        """Make the scene, if graph, trace, call or overlay are other ones: at once for what the
        user chose in a small picture, else in the background. It comes later where the graph drawn
        is of another call, and that of this one waits for insides."""
        document = self._document
        wanted = (self.arranged, document.trace, document.current_call, document.view.overlay)
        if self.arranged is NOTHING_ARRANGED or are_same(wanted, self._composed_from):
            return
        if self._before is not None or self._held is not None:
            return
        self._composed_from = wanted
        base = (*wanted[:3], document.view.overlay.show_bridge)
        work = partial(document.stages.compose, *wanted)
        take = partial(self._take_scene, base)
        is_step = len(self.arranged.layout.rects) <= SMALL and are_same(base, self._scene_from)
        if is_step or (self._is_chosen(base) and _is_small(self.arranged)):
            document.background.drop("compose")
            take(work())
        else:
            document.background.submit("compose", work, take)

    def _is_chosen(self, base: tuple[object, ...]) -> bool:
        """Whether the picture was of the same run, and the user chose another gradient call or
        whether it has the bridge."""
        if not self._scene_from or self._scene_from[1] is not base[1]:
            return False
        was, now = self._scene_from[2], base[2]
        if not (isinstance(was, CallDiagnosis) and isinstance(now, CallDiagnosis)):
            return False
        return was.call.id != now.call.id or self._scene_from[3] != base[3]

    def _take_scene(self, base: tuple[object, ...], scene: Scene) -> None:
        self._scene_from = base
        self.scene = scene
        self._document.scene_changed.emit()

    def relink(self) -> None:
        """Look up anew which nodes, tensors and lines belong together."""
        wanted = (self.arranged, self._document.trace, self._document.current_call)
        if self._before is not None:
            wanted = (NOTHING_ARRANGED, EMPTY_TRACE, None)
        if not are_same(wanted, self._linked_from):
            arranged, groups = self._groups
            known = groups if arranged is wanted[0] else None
            self._linked_from, self.links = wanted, Links(*wanted, known)


def _is_small(arranged: Arranged) -> bool:
    """Whether a picture has few boxes, and little is folded into them."""
    if len(arranged.layout.rects) > SMALL:
        return False
    nodes = arranged.graph.nodes(data="node")
    return sum(len(node.members) for _, node in nodes) <= FEW_INSIDE
