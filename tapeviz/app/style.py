"""Make the application's stylesheet and palette for a theme."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from PySide6.QtGui import QColor, QPalette

from ..files.resources import resource
from ..panels.look import BODY, SMALL, Theme, mix
from ..scene.text import FACES


def stylesheet(theme: Theme) -> str:
    """``resources/themes/window.qss`` with colours and fonts in place of its ``$names``."""

    def families(face: str) -> str:
        return ", ".join(f'"{name}"' for name in FACES[face].families)  # type: ignore[index]

    sheet = Template(resource("themes", "window.qss").read_text(encoding="utf-8"))
    return sheet.substitute(
        asdict(theme),
        sans=families("sans"),
        mono=families("mono"),
        body=BODY,
        small=SMALL,
        hover=mix(theme.panel, theme.text, 0.06),
        scroll=mix(theme.panel, theme.text, 0.2),
        selection=mix(theme.panel, theme.accent, 0.28),
        accent_hover=mix(theme.accent, theme.text, 0.15),
        chevron=resource("icons", "chevron.svg").as_posix(),
    )


def palette(theme: Theme) -> QPalette:
    """The palette for what no stylesheet reaches: dialogs of the system, placeholder texts."""
    made = QPalette()
    roles = QPalette.ColorRole
    for role, name in (
        (roles.Window, theme.window),
        (roles.Base, theme.panel),
        (roles.AlternateBase, theme.background),
        (roles.Text, theme.text),
        (roles.WindowText, theme.text),
        (roles.Button, theme.panel),
        (roles.ButtonText, theme.text),
        (roles.Highlight, theme.accent),
        (roles.HighlightedText, theme.on_accent),
        (roles.PlaceholderText, theme.text_faint),
        (roles.ToolTipBase, theme.panel),
        (roles.ToolTipText, theme.text),
        (roles.Link, theme.accent_text),
    ):
        made.setColor(role, QColor(name))
    return made
