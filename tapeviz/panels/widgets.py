"""Small widgets that several panels show: plain labels, badges, a switch, links and headings."""

from __future__ import annotations

import re
from typing import Literal

from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from ..analysis.findings import Status
from ..canvas.tips import plain_tip
from ..wording import shortened
from .icons import make_icon, paint_icon
from .look import SMALL, Theme, colour, font

_RIGHT = r"\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_FROM_RIGHT = re.compile(rf"\w*[{_RIGHT}][\w{_RIGHT}]*")
"""A word of Hebrew, Arabic and other letters that are read from the right."""


def isolated(text: str) -> str:
    """The text of a label, :func:`shortened`, in which words read from the right stand apart
    (Unicode's FSI and PDI): without it the number after such a name moves to its left."""
    return _FROM_RIGHT.sub("\u2068\\g<0>\u2069", shortened(text))


_INVISIBLE = re.compile("[\u200b\u2068\u2069]")
"""Marks that labels are shown with: places to break a line, and those of :func:`isolated`."""


class SelectableLabel(QLabel):
    """A label whose text can be selected, and is copied without invisible marks."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    @property
    def selected(self) -> str:
        return _INVISIBLE.sub("", self.selectedText())

    def copy(self) -> None:
        if self.selected:
            QGuiApplication.clipboard().setText(self.selected)

    def selectAll(self) -> None:
        self.setSelection(0, len(self.text()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        clipboard = QGuiApplication.clipboard()
        if self.selected and clipboard.supportsSelection():  # what a middle click inserts
            clipboard.setText(self.selected, QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Copy", self.copy).setEnabled(self.hasSelectedText())
        menu.addAction("Select &all", self.selectAll)
        menu.popup(event.globalPos())


def plain_label(
    text: str = "", name: str = "", wraps: bool = False, is_selectable: bool = False
) -> QLabel:
    """A label that never interprets markup; ``name``: what the stylesheet calls it."""
    label = SelectableLabel() if is_selectable else QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(isolated(text))
    label.setObjectName(name)
    label.setWordWrap(wraps)
    if wraps:
        label.setMinimumWidth(40)
    return label


class ShortLabel(QLabel):
    """A line of plain text that is shortened if there is no room; the tooltip has all of it.

    ``between``: what stands between parts of the text; its last parts are left out as a whole,
    with ``more`` in their place. ``keeps``: the px that it has at least, if its text is as long.
    ``wants_least``: it asks for the room of its first part only, so that labels beside it that need
    theirs have it; what is left over is filled.
    """

    def __init__(
        self,
        name: str = "",
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        between: str = "",
        more: str = "",
    ) -> None:
        super().__init__()
        self._elide = elide
        self._between, self._more = between, more
        self.keeps = 24
        self.wants_least = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        if self.wants_least and self._between:
            first = self.text().partition(self._between)[0]
            hint.setWidth(min(hint.width(), self.fontMetrics().horizontalAdvance(first) + 2))
        return hint

    def minimumSizeHint(self) -> QSize:
        width = min(self.sizeHint().width(), self.keeps)
        return QSize(width, super().minimumSizeHint().height())

    @property
    def shown(self) -> str:
        """The text as far as there is room."""
        metrics, text, more = self.fontMetrics(), self.text(), ""
        while self._between and self._between in text:
            if metrics.horizontalAdvance(text + more) <= self.width():
                return text + more
            text, more = text.rpartition(self._between)[0], self._more
        return metrics.elidedText(text + more, self._elide, self.width())

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(plain_tip(text) if text else "")
        self.setAccessibleName(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), self.alignment() | Qt.AlignmentFlag.AlignVCenter, self.shown)
        painter.end()


class ShortCombo(QComboBox):
    """A combo box that shortens the shown choice if there is no room; the list has all of it."""

    def minimumSizeHint(self) -> QSize:
        return QSize(96, super().minimumSizeHint().height())

    def showPopup(self) -> None:
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 24)
        super().showPopup()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        complex_control = QStyle.ComplexControl.CC_ComboBox
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(complex_control, option, field, self).width() - 6
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, room
        )
        painter.drawComplexControl(complex_control, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


def set_state(widget: QWidget, state: str) -> None:
    """Give a widget the look that the stylesheet has for a state: ``trouble``, or empty."""
    if widget.property("state") != state:
        widget.setProperty("state", state)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def link_button(text: str, tip: str = "") -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("link")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setToolTip(tip)
    button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return button


BadgeKind = Status | Literal["warning"]
"""A warning is about numbers that look right."""
STATUS_ICONS: dict[BadgeKind, str] = {
    "flows": "check",
    "none": "scissors",
    "zero": "zero",
    "nonfinite": "warning",
    "warning": "warning",
}


class Badge(QWidget):
    """The status of a gradient as icon and word: never by colour alone. One that ``is_harmless``
    has no colour."""

    def __init__(
        self, status: BadgeKind, text: str, theme: Theme, is_harmless: bool = False
    ) -> None:
        super().__init__()
        self.status = status
        self._is_harmless = is_harmless
        self._text = text
        self._theme = theme
        self._font = font("sans", SMALL, is_bold=True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self._font).horizontalAdvance(self._text) + 38, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        fill, text = badge_colours(self.status, self._theme)
        if self._is_harmless:
            fill, text = self._theme.window, self._theme.text_muted
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(fill))
        painter.drawRoundedRect(QRectF(self.rect()), 12, 12)
        paint_icon(painter, STATUS_ICONS[self.status], QRectF(10, 5.5, 13, 13), text, 1.8)
        painter.setFont(self._font)
        painter.setPen(colour(text))
        painter.drawText(
            self.rect().adjusted(27, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._text
        )
        painter.end()


def badge_colours(status: BadgeKind, theme: Theme) -> tuple[str, str]:
    """Fill and text of a badge."""
    if status == "warning":
        return theme.warning_fill, theme.warning_text
    if status == "flows":
        return theme.success_fill, theme.success_text
    return theme.trouble_fill, theme.trouble_text


class Switch(QAbstractButton):
    """A switch with its words before it."""

    def __init__(self, text: str, theme: Theme) -> None:
        super().__init__()
        self.setText(text)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._theme = theme
        self._place = 0.0
        self._glide = QPropertyAnimation(self, b"place", self)
        self._glide.setDuration(120)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._move)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def _move(self, is_on: bool) -> None:
        self._glide.stop()
        self._glide.setEndValue(1.0 if is_on else 0.0)
        self._glide.start()

    def _get_place(self) -> float:
        return self._place

    def _set_place(self, place: float) -> None:
        self._place = place
        self.update()

    place = Property(float, _get_place, _set_place)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 44, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        painter.setPen(colour(theme.text if self.isEnabled() else theme.text_faint))
        painter.drawText(
            self.rect().adjusted(2, 0, -40, 0), Qt.AlignmentFlag.AlignVCenter, self.text()
        )
        track = QRectF(self.width() - 34, self.height() / 2 - 8, 30, 16)
        painter.setPen(colour(theme.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
        off = theme.op_stroke if self.isEnabled() else theme.border
        painter.setBrush(colour(theme.gradient if self.isChecked() else off))
        painter.drawRoundedRect(track, 8, 8)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour("#ffffff"))
        painter.drawEllipse(QRectF(track.left() + 2 + 14 * self._place, track.top() + 2, 12, 12))
        painter.end()


class IconButton(QPushButton):
    """A flat button with an icon that follows the theme."""

    def __init__(self, icon: str, tip: str, theme: Theme, text: str = "") -> None:
        super().__init__(text)
        self.setObjectName("icon")
        self.setToolTip(tip)
        self.setAccessibleName(text or tip.split("(")[0].strip())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icon = icon
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setIcon(make_icon(self._icon, theme.text, theme.op_stroke))

    def show_icon(self, icon: str) -> None:
        if icon != self._icon:
            self._icon = icon
            self.set_theme(self._theme)
