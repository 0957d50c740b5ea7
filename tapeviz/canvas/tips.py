"""Show plain text as a tooltip, as it is."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolTip, QWidget

LONGEST = 2_000


def plain_tip(text: str) -> str:
    """``text`` as escaped HTML: Qt would take a text that looks like markup for markup."""
    return f"<span style='white-space: pre-wrap'>{escape(text[:LONGEST])}</span>"


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip at a point of the screen; an empty text hides the tooltip."""
    if text:
        QToolTip.showText(at, plain_tip(text), widget)
    else:
        QToolTip.hideText()
