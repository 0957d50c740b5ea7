"""A finding in, its card out: what became of one gradient, why, and what mends it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ..analysis.model import CallDiagnosis, ExplainedError, Finding, Fix, Warned
from ..document import Document
from ..resource_files import resource
from ..scene.numbers import array_text, shape_text, type_text
from .look import Theme, colour, mix
from .values import MOST_CELLS, ValueTable
from .widgets import STATUS_TEXTS, Badge, link_button, plain_label

MOST_ROWS, MOST_COLUMNS = 8, 5


def rule() -> QFrame:
    line = QFrame()
    line.setObjectName("rule")
    line.setFixedHeight(1)
    return line


class Card(QFrame):
    """A frame with a coloured edge; ``state``: ``trouble``, ``warning`` or ``good``."""

    def __init__(self, state: str, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        edges = {"trouble": theme.trouble, "warning": theme.gradient, "good": theme.success}
        self._edge = edges[state]
        self._is_current = False
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 12, 12, 12)
        self.column.setSpacing(9)

    def set_current(self, is_current: bool) -> None:
        """Marks the card of the call that the graph shows."""
        if is_current != self._is_current:
            self._is_current = is_current
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        border = mix(theme.panel, theme.text, 0.45) if self._is_current else theme.border
        painter.setPen(QPen(colour(border), 1))
        painter.setBrush(colour(self._theme.panel))
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, 6, 6)
        painter.setClipRect(QRectF(0, 0, 3.5, self.height()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(self._edge))
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        painter.end()

    def add_title(self, text: str, beside: QWidget | None = None) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        title = plain_label(text, "findingTitle", wraps=True)
        title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(title, 1)
        if beside is not None:
            row.addWidget(beside, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(row)

    def add_words(self, text: str, name: str = "") -> None:
        words = plain_label(text, name, wraps=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(words)

    def add_links(self, *links: tuple[str, Callable[[], object], str]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(16)
        for text, act, tip in links:
            button = link_button(text, tip)
            button.clicked.connect(act)
            row.addWidget(button)
        row.addStretch(1)
        self.column.addLayout(row)
        return row


class FindingCard(Card):
    """One source of one call. Clicked, it becomes the one that the graph shows."""

    def __init__(
        self,
        document: Document,
        theme: Theme,
        call: CallDiagnosis,
        finding: Finding,
        apply: Callable[[Fix], None],
        compare: Callable[[Finding, Fix], None],
    ) -> None:
        super().__init__("good" if finding.status == "flows" else "trouble", theme)
        self.call, self.finding = call, finding
        self._document = document
        self.setAccessibleName(f"{title_of(finding)}: {STATUS_TEXTS[finding.status]}")
        badge = Badge(finding.status, STATUS_TEXTS[finding.status], theme)
        self.add_title(title_of(finding), badge)
        self.add_words(finding.message)
        self._add_way(finding)
        self._add_gradient(finding)
        self._add_bridge(finding)
        self._add_fixes(finding, apply, compare)

    def mousePressEvent(self, event: object) -> None:
        self._document.select_call(self.call.call.id)

    def _add_way(self, finding: Finding) -> None:
        links: list[tuple[str, Callable[[], object], str]] = []
        cause = finding.cause
        if cause is not None:
            links.append(("Show the cut", self._show_cut, "Zoom to where the gradient stops"))
        elif finding.tensor is not None:
            links.append(("Show the flow", self._show_flow, "Step through this gradient"))
        line = cause.line if cause and cause.line else self.call.call.line
        if line:
            links.append((f"Line {line}", lambda: self._show_line(line), "Go to this line"))
        row = self.add_links(*links)
        path = resource("explanations", f"{cause.kind}.md") if cause else None
        if path is not None and path.is_file():
            self._add_explanation(row, path.read_text(encoding="utf-8"))

    def _add_explanation(self, row: QHBoxLayout, text: str) -> None:
        toggle = link_button("Why?")
        toggle.setCheckable(True)
        row.insertWidget(row.count() - 1, toggle)
        words = plain_label(plain_prose(text), "muted", wraps=True)
        words.hide()
        toggle.toggled.connect(words.setVisible)
        self.column.addWidget(words)

    def _show_cut(self) -> None:
        self._document.select_call(self.call.call.id)
        if self.finding.cause is not None:
            self._document.show_cause(self.finding.cause)

    def _show_flow(self) -> None:
        self._document.select_call(self.call.call.id)
        nodes = {self._document.links.node_of_tensor(t) for t, _ in self.call.flow.walked}
        self._document.reveal_requested.emit(frozenset(node for node in nodes if node))

    def _show_line(self, line: int) -> None:
        self._document.select_call(self.call.call.id)
        self._document.go_to_line(line)

    def _add_gradient(self, finding: Finding) -> None:
        if finding.tensor is None:
            return
        self.column.addWidget(rule())
        kind = type_text(finding.dtype, finding.shape)
        self.column.addWidget(plain_label(f"Gradient · {kind}", "heading"))
        self._add_values(finding.tensor)

    def _add_bridge(self, finding: Finding) -> None:
        if finding.bridged is None:
            return
        self.column.addWidget(rule())
        self.column.addWidget(plain_label("Across the cut it would be", "heading"))
        self._add_values(finding.bridged)

    def _add_values(self, tensor: object) -> None:
        known = self._document.trace.tensors.get(tensor)  # type: ignore[call-overload]
        value = self._document.value_of(tensor)  # type: ignore[arg-type]
        if value is None or value.size > MOST_CELLS or value.size == 0:
            self._add_summary(tensor, known)
            return
        table = value.reshape(-1, value.shape[-1]) if value.ndim > 1 else value.reshape(1, -1)
        shown = table[:MOST_ROWS, :MOST_COLUMNS]
        cells = ValueTable(self._theme, True, (54, 27))
        cells.soften()
        cells.show_array(shown, True)
        self.column.addWidget(cells)
        if shown.size < value.size:
            self.column.addWidget(plain_label(f"the first of {shape_text(value.shape)}", "faint"))

    def _add_summary(self, tensor: object, known: object) -> None:
        stats = self._document.trace.stats(tensor)  # type: ignore[arg-type]
        shape = shape_text(getattr(known, "shape", None))
        parts = [shape] if shape else []
        if stats is not None and stats.norm is not None:
            parts += [f"norm {stats.norm:.4g}", f"min {stats.min:.4g}", f"max {stats.max:.4g}"]
        button = link_button("Look at it", "Show it in the Tensor panel")
        button.clicked.connect(lambda: self._document.select_tensor(tensor, "value"))  # type: ignore[arg-type]
        self.column.addWidget(plain_label(" · ".join(parts), "muted", wraps=True))
        self.column.addWidget(button)

    def _add_fixes(
        self,
        finding: Finding,
        apply: Callable[[Fix], None],
        compare: Callable[[Finding, Fix], None],
    ) -> None:
        if not finding.fixes:
            return
        self.column.addWidget(rule())
        self.column.addWidget(plain_label("Tried fixes", "heading"))
        for fix in finding.fixes:
            self.column.addWidget(self._fix(finding, fix, apply, compare))

    def _fix(
        self,
        finding: Finding,
        fix: Fix,
        apply: Callable[[Fix], None],
        compare: Callable[[Finding, Fix], None],
    ) -> QFrame:
        frame = QFrame()
        frame.setObjectName("fix")
        column = QVBoxLayout(frame)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(4)
        column.addWidget(plain_label(fix.title, "fixTitle", wraps=True))
        for line in fix.diff.splitlines()[:12]:
            if not line.startswith(("---", "+++", "@@")):
                name = {"-": "removed", "+": "added"}.get(line[:1], "code")
                column.addWidget(plain_label(line, name, wraps=True))
        value = fix.value
        if value is not None and array_text(value, 60):
            column.addWidget(
                plain_label(f"{title_of(finding, ' ')} = {array_text(value, 60)}", "code")
            )
        row = QHBoxLayout()
        button = QPushButton("Apply")
        button.setObjectName("primary")
        button.clicked.connect(lambda: apply(fix))
        beside = link_button("Compare side by side")
        beside.clicked.connect(lambda: compare(finding, fix))
        row.addWidget(button)
        row.addSpacing(8)
        row.addWidget(beside)
        row.addStretch(1)
        column.addSpacing(4)
        column.addLayout(row)
        return frame


class ErrorCard(Card):
    """The exception that ended the snippet."""

    def __init__(self, document: Document, theme: Theme, error: ExplainedError) -> None:
        super().__init__("trouble", theme)
        self.add_title(error.type, Badge("nonfinite", "error", theme))
        self.add_words(error.explanation or error.message.strip()[:600])
        if error.explanation:
            self.add_words(error.message.strip()[:600], "code")
        if error.line:
            line = error.line
            self.add_links((f"Line {line}", lambda: document.go_to_line(line), "Go to this line"))


class WarningCard(Card):
    """A number that looks right and is wrong."""

    def __init__(self, document: Document, theme: Theme, warned: Warned) -> None:
        super().__init__("warning", theme)
        self.add_words(warned.message)
        line = warned.line
        if line:
            self.add_links((f"Line {line}", lambda: document.go_to_line(line), "Go to this line"))


def title_of(finding: Finding, around: str = " ") -> str:
    return f"∂{finding.target}{around}/{around}∂{finding.source}"


def plain_prose(markdown: str) -> str:
    """The words of an explanation: headings and emphasis lose their signs."""
    lines = []
    for line in markdown.splitlines():
        line = line.lstrip("#").strip() if line.startswith("#") else line
        lines.append(line.replace("**", "").replace("`", ""))
    return "\n".join(lines).strip()
