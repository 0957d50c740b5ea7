"""A text of the user's in, a tooltip that shows it letter by letter out."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolTip, QWidget

LONGEST = 2_000


def plain_tip(text: str) -> str:
    """Qt guesses whether a tooltip is markup; escaped markup is plain for sure."""
    return f"<span style='white-space: pre-wrap'>{escape(text[:LONGEST])}</span>"


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Shows a tooltip at a place on the screen; an empty text hides the one that is shown."""
    if text:
        QToolTip.showText(at, plain_tip(text), widget)
    else:
        QToolTip.hideText()
