"""The panel with the drawing."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from ..canvas.anchoring import anchor_of
from ..canvas.camera import COMFORT, ENOUGH
from ..canvas.edge_buttons import EdgeButtons
from ..canvas.framing import area_under
from ..canvas.legend import Legend
from ..canvas.minimap import Minimap
from ..canvas.view import KEY_STEP, GraphView
from ..document import Document
from ..document.background import are_same
from ..graph.model import NodeId
from ..layout.model import EMPTY_LAYOUT, Rect
from ..scene.model import Scene
from ..scene.parts.boxes import outer_rect
from ..scene.sizes import LEGIBLE
from ..wording import counted
from .both_strip import BothStrip
from .empty_graph import EmptyGraph
from .graph_clicks import GraphClicks
from .look import Theme
from .outdated import StaleStrip, Veil
from .panel import Panel
from .rounds.strip import RoundStrip
from .rows import fill
from .shown_picture import ShownPicture
from .widgets import IconButton, plain_label

EDGE = 12
GAP = 4
"""Px around the minimap."""
MARGIN = 10
"""Px around a picture that fills the pane."""
GRAIN = 10
"""The room of the picture is rounded to this many px."""
CORNERS = ((True, True), (True, False), (False, False), (False, True))
"""Places of the minimap: (is on the right, is below)."""
_LEAST_OF_BOTH = 0.6 * LEGIBLE
"""The scale down to which all of two runs is in sight."""
MAKING = frozenset(("diagnose", "arrange", "compose", "walk"))
"""Background work that makes a picture."""
SETTLED = 120
"""Milliseconds without a change after which a new size of the panel is used."""


class GraphPanel(Panel):
    title = "Graph"
    name = "graph"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.view = GraphView(theme, lambda error: document.failed.emit("paint", error))
        self.drawn = ShownPicture(document)
        GraphClicks(document, self.view, self.drawn)
        self.minimap = Minimap(theme, self.view)
        self.beyond = EdgeButtons(self.view)
        self.legend = Legend(theme)
        self.empty = EmptyGraph(document, self.view)
        self.step_label = plain_label(name="muted")
        self.buttons = [
            IconButton("minus", "Smaller (−)", theme),
            IconButton("plus", "Larger (+)", theme),
            IconButton("fit", "All in sight (F)", theme),
        ]
        actions = (
            lambda: self.view.zoom(1 / KEY_STEP),
            lambda: self.view.zoom(KEY_STEP),
            self.view.fit,
        )
        fill(self.header_row, 10, (self.legend, 1), self.step_label, 6, *self.buttons)
        for button, action in zip(self.buttons, actions, strict=True):
            button.clicked.connect(action)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.veil = Veil(document, theme, self.view)
        self.stale = StaleStrip(document)
        self.strip = BothStrip(document, theme)
        self.rounds = RoundStrip(document, theme)
        fill(self.body, self.stale, self.strip, self.rounds, (self.view, 1))
        self._shown_layout = EMPTY_LAYOUT
        self._shown_of: tuple[object, ...] = ()
        self._awaits_landmarks = False
        self._wanted_width = self._spare = 0
        self._map_at = (True, True)
        """The present place of the minimap."""
        self.settling = QTimer(self, singleShot=True, interval=SETTLED)
        self.settling.timeout.connect(self._report_room)
        self._connect()
        self._show_scene()
        self._show_step()
        self.view.installEventFilter(self)

    def _connect(self) -> None:
        view, document = self.view, self.document
        document.hover_changed.connect(self._light_up)
        view.camera_changed.connect(self._show_minimap)
        view.arrived.connect(self._keep_minimap_aside)
        self.minimap.moved.connect(self._centre)
        document.scene_changed.connect(self._show_scene)
        # Queued: first what became of the work that ended is shown.
        queued = Qt.ConnectionType.QueuedConnection
        document.progress_changed.connect(self._begin_at_landmarks, queued)
        document.comparing.changed.connect(self._show_scene)
        document.comparing.changed.connect(self._show_step)
        document.step_changed.connect(self._show_step)
        document.diagnosis_changed.connect(self._show_step)
        document.reveal_requested.connect(self.reveal)
        document.selection_changed.connect(self._follow_selection)

    def focus_target(self) -> QWidget:
        return self.view

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._place_overlays()
            self._begin_at_landmarks()
            self.settling.start()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.rounds.fit_into(self.width(), self.height())
        super().resizeEvent(event)

    def _place_overlays(self) -> None:
        self.empty.setGeometry(0, 0, self.view.width(), self.view.height())
        if self.minimap.isVisibleTo(self.view):
            self._place_minimap()

    def _place_minimap(self, is_after_glide: bool = False) -> None:
        """Put the minimap into the first corner of the view without boxes and edges, else into one
        without boxes; hide it if there is none. In a view that the user moved it stays; after a
        glide to a step or to what was clicked it leaves a corner with boxes for one without."""
        view = self.view
        right = view.width() - self.minimap.width() - EDGE
        low = view.height() - self.minimap.height() - EDGE
        is_placed = view.framing is not None
        if is_placed or is_after_glide:
            found: list[tuple[bool, bool, bool]] = []
            for place in CORNERS:
                corner = (right if place[0] else EDGE, low if place[1] else EDGE)
                around = self.minimap.rect().translated(*corner).adjusted(-GAP, -GAP, GAP, GAP)
                spot = area_under(view.camera, around)
                has_left = is_after_glide and place != self._map_at
                found.append((view.prepared.has_boxes(spot), has_left, view.prepared.is_used(spot)))
            best = min(range(len(CORNERS)), key=found.__getitem__)
            has_room = not found[best][0]
            if is_placed or has_room:
                self._map_at = CORNERS[best]
            if is_placed:
                self.minimap.setVisible(has_room)
        self.minimap.move(
            right if self._map_at[0] else EDGE,
            low if self._map_at[1] else EDGE,
        )

    def _report_room(self) -> None:
        """The picture is laid out for the pane as large as it could be, unless the user moved in
        it. A comparison is laid out for the same room, and may want the pane to be so large."""
        view = self.view
        comparing = self.document.comparing
        if not (view.isVisible() and view.follows_fit):
            return
        if comparing.both is not None:
            self._ask_for_width()
        if comparing.both is not None or comparing.awaited:
            view.restore()
            return
        width = view.width() + self._spare
        sides = (width - 2 * MARGIN, view.height() - 2 * MARGIN)
        across, along = (max(GRAIN, side // GRAIN * GRAIN) for side in sides)
        room = self.document.view.room
        has_grown = across > room[0] or along > room[1]
        if view.prepared.scene.boxes and view.camera.scale >= COMFORT and not has_grown:
            return  # it is as large as it can be; in more room there may be more boxes
        if room == (across, along):
            view.restore()
            self._ask_for_width()
        self.document.change_form(room=(float(across), float(along)))

    def _ask_for_width(self) -> None:
        """A picture made for this pane that is too wide to be read in it wants more; it keeps that
        until another text is opened, so that nothing moves to and fro."""
        needed = math.ceil(LEGIBLE * self.view.prepared.scene.bounds.width) + 2 * MARGIN
        if not self._awaits_landmarks and needed > max(self.view.width(), self._wanted_width):
            self._wanted_width = needed
            self.room_changed.emit()

    def wanted_room(self) -> QSize:
        return QSize(self._wanted_width + self.width() - self.view.width(), 0)

    def set_spare(self, width: int) -> None:
        if width != self._spare:
            self._spare = width
            self.settling.start()

    def _show_scene(self) -> None:
        scene = self.drawn.scene
        layout = self.drawn.arranged.layout
        before, self._shown_layout = self._shown_layout, layout
        is_kept = self.drawn.is_single and (
            bool(self.drawn.arranged.successors)
            or (self.view.framing is None and layout.has_places_of(before))
        )
        is_same_picture = layout is before or self._is_same_picture()
        is_new = layout is not before and not is_kept
        had_boxes = bool(self.view.prepared.scene.boxes)
        is_near = is_new and is_same_picture and self._stays_near(scene)
        is_new = is_new and not is_near
        was_whole = self.view.is_whole
        self.view.set_scene(scene)
        if was_whole and not (is_new or is_near or self.view.is_whole):
            self.view.restore()  # a box has become wider where it stands
        self.legend.show_entries(scene.legend)
        self.empty.setVisible(not scene.boxes)
        if not scene.boxes:
            self._wanted_width = 0
        self._place_overlays()
        if is_near:
            self._ask_for_width()
        is_growing = self.document.is_running and had_boxes
        is_compared = not self.drawn.is_single
        if is_new and (is_compared or self.view.follows_fit or not is_growing):
            self.view.begin_at((), LEGIBLE)
            self._awaits_landmarks = True
            self.settling.start()
        self._begin_at_landmarks()
        self._describe()

    def _is_same_picture(self) -> bool:
        """Whether the layout that is shown now is of the call and for the room of the one before,
        as when a group was opened or closed."""
        document, view = self.document, self.document.view
        shown, self._shown_of = self._shown_of, (document.trace, view.overlay.call, view.room)
        return are_same(shown, self._shown_of) and self.drawn.is_single

    def _stays_near(self, scene: Scene) -> bool:
        """A group of the same picture opened or closed: what was clicked stays under the pointer,
        moved only so that the open group is in sight, with as many landmarks as fit. False:
        no group did."""
        members = {name: node.members for name, node in self.document.links.nodes.items()}
        before = self.view.prepared.scene
        anchor = anchor_of(before, scene, members)
        if anchor is not None:
            scale = self.view.camera.scale
            known = {frame.path for frame in before.frames}
            first = [frame.rect for frame in scene.frames if frame.path not in known]
            landmarks = [*(first or [Rect(*anchor[1], 1, 1)]), *_landmarks(scene)]
            least = LEGIBLE if scale <= COMFORT else scale
            self.view.stay_near(*anchor, landmarks, least, scene.bounds)
        return anchor is not None

    def _begin_at_landmarks(self) -> None:
        """A picture too large to be read as a whole begins at its landmarks: the cut and the
        target. Where the gradient stops is known before the graph or after it: until all is there,
        each scene moves the first view, unless the user moved the camera. The minimap shows where
        that is."""
        view, document = self.view, self.document
        is_settled = not document.is_running and document.current_call is not None
        is_ours = self._awaits_landmarks and view.is_at_first_view
        if not (is_ours and is_settled and view.isVisible()):
            return
        scene = view.prepared.scene
        is_alone = self.drawn.is_single
        view.begin_at(_landmarks(scene), LEGIBLE if is_alone else _LEAST_OF_BOTH)
        self._awaits_landmarks = not document.background.busy.isdisjoint(MAKING)
        if not self._awaits_landmarks:
            self.settling.start()  # now it is known whether the picture wants more room

    def _show_minimap(self) -> None:
        self.minimap.show_camera(self.view.prepared, self.view.camera)
        self.beyond.show_camera(self.view.prepared, self.view.camera)
        self._place_overlays()

    def _keep_minimap_aside(self) -> None:
        if self.minimap.isVisibleTo(self.view):
            self._place_minimap(is_after_glide=True)

    def _centre(self, x: float, y: float) -> None:
        camera = self.view.camera
        at = camera.to_screen((x, y))
        self.view.move_camera(camera.panned(camera.width / 2 - at[0], camera.height / 2 - at[1]))

    def _show_step(self) -> None:
        count, step = len(self.document.steps), self.document.step
        if not self.drawn.is_single:
            self.step_label.setText("before and after")
        elif step is not None:
            self.step_label.setText(f"step {step:,} of {count:,}")
        else:
            self.step_label.setText(counted(count, "step") if count else "")

    def _follow_selection(self) -> None:
        self.view.keep_in_sight(self.drawn.selected)
        self._describe()

    def show_found(self, nodes: frozenset[NodeId]) -> None:
        """Bring what a search found into sight; the user's zoom stays if words can be read."""
        self.view.bring_into_sight(self.drawn.called(nodes), ENOUGH * LEGIBLE)

    def reveal(self, nodes: frozenset[NodeId]) -> None:
        """Glide to nodes of the document's run, which is the first of two runs."""
        self.view.reveal(self.drawn.called(nodes))

    def _describe(self) -> None:
        """Set the words of a screen reader for the graph and the selected nodes."""
        scene, prepared = self.drawn.scene, self.view.prepared
        words = f"{len(scene.boxes)} nodes, {len(scene.wires)} edges"
        chosen = [node for node in self.drawn.selected if node in prepared.indices]
        boxes = [prepared.scene.boxes[prepared.indices[node]] for node in chosen[:3]]
        names = [" ".join((box.title, box.subtitle, box.value)).strip() for box in boxes]
        if names:
            words += f". Selected: {'; '.join(names)}"
        self.view.setAccessibleDescription(words)

    def _light_up(self) -> None:
        is_single = self.drawn.is_single
        self.view.light_up(self.document.selecting.hovered if is_single else frozenset())


def _landmarks(scene: Scene) -> list[Rect]:
    """The rectangles of cuts, target and sources, the most important first."""
    landmarks = [mark.rect for mark in scene.marks]
    for ring in ("raised", "nonfinite", "target", "cut", "source"):
        landmarks += [outer_rect(box) for box in scene.boxes if box.ring == ring]
    return landmarks
