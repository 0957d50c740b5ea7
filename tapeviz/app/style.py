"""Make the application's stylesheet and palette for a theme."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from PySide6.QtGui import QColor, QPalette

from ..files.resources import resource
from ..panels.look import BODY, SMALL, Theme, mix
from ..scene.text import FACES

_SHEET = Template("""
* { font-family: $sans; font-size: ${body}px; outline: none; }
QMainWindow, QDialog, QMessageBox { background: $window; }
QWidget { color: $text; }
QToolTip { background: $panel; color: $text; border: 1px solid $border; padding: 5px 8px;
  font-size: ${small}px; }
QMenuBar { background: $panel; padding: 1px 6px; }
QMenuBar::item { background: transparent; padding: 4px 9px; border-radius: 5px;
  color: $text_muted; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: $hover; color: $text; }
QMenu { background: $panel; border: 1px solid $border; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 24px; border-radius: 5px; }
QMenu::item:selected { background: $accent_fill; color: $text; }
QMenu::item:disabled { color: $text_faint; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }
QMenu::indicator { width: 8px; height: 8px; margin-left: 9px; border-radius: 4px; }
QMenu::indicator:checked { background: $accent; }
#menuHeading { color: $text_muted; font-size: ${small}px; padding: 5px 10px 3px 10px; }

#bar { background: $panel; border-bottom: 1px solid $border; }
#status { background: $panel; border-top: 1px solid $border; }
#status QLabel { color: $text_muted; font-size: ${small}px; }
#status QLabel#trouble[state="trouble"] { color: $trouble_text; }
#card { background: $panel; border: 1px solid $border; border-radius: 8px; }
#cardTitle { color: $text_muted; font-weight: 600; }
#muted, #heading { color: $text_muted; font-size: ${small}px; }
#faint { color: $text_faint; font-size: ${small}px; }
#mono { font-family: $mono; }
#empty { color: $text_muted; }
#emptyTitle { color: $text; font-size: 16px; font-weight: 600; }

QPushButton { background: $panel; border: 1px solid $border; border-radius: 6px;
  padding: 5px 12px; }
QPushButton:hover { background: $hover; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $text_faint; }
QPushButton#primary { background: $accent; color: $on_accent; border: 1px solid $accent;
  font-weight: 600; padding: 5px 16px; }
QPushButton#primary:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton#primary:focus { border: 2px solid $text; padding: 4px 15px; }
QPushButton#primary:disabled { background: $border; border-color: $border; color: $text_faint; }
QPushButton#flat, QPushButton#icon { background: transparent; border: 1px solid transparent;
  padding: 4px 8px; }
QPushButton#icon { padding: 4px; }
QPushButton#flat:hover, QPushButton#icon:hover { background: $hover; }
QPushButton#flat:pressed, QPushButton#icon:pressed { background: $border; }
QPushButton#flat:focus, QPushButton#icon:focus { border-color: $accent; }
QPushButton#icon:checked { background: $accent_fill; }
QPushButton#flat::menu-indicator { image: none; width: 0; }
QPushButton#link { background: transparent; border: 1px solid transparent; color: $accent_text;
  font-weight: 600; padding: 2px 0; text-align: left; }
QPushButton#beyond { background: $panel; border: 1px solid $border; border-radius: 10px;
    color: $text; font-size: ${small}px; padding: 2px 9px; }
QPushButton#beyond:hover { background: $hover; border-color: $accent; }
QPushButton#link:hover { text-decoration: underline; }
QPushButton#link:disabled { color: $text_faint; }
QPushButton#link:focus { border: 1px solid $accent; border-radius: 4px; }

QLineEdit, QComboBox, QSpinBox { background: $background; border: 1px solid $border;
  border-radius: 6px; padding: 4px 8px; selection-background-color: $accent;
  selection-color: $on_accent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { border-color: $accent; }
QComboBox { padding: 3px 8px; font-size: ${small}px; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url("$chevron"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $panel; border: 1px solid $border;
  selection-background-color: $accent_fill; selection-color: $text; }
QPlainTextEdit, QTextEdit { background: $panel; border: none; font-family: $mono;
  selection-background-color: $selection; selection-color: $text; }

#palette { background: $panel; border: 1px solid $border; }
QTreeWidget { background: $panel; border: none; }
QTreeWidget::item { padding: 4px 6px; border: none; }
QTreeWidget::item:selected { background: $accent_fill; color: $text; }
QTableView { background: $panel; border: 1px solid transparent; border-radius: 5px;
  gridline-color: transparent;
  selection-background-color: $accent_fill; selection-color: $text; alternate-background-color:
  $panel; }
QTableView:focus { border-color: $accent; }
QTableView#cutRows { border-top-color: $border; border-radius: 0; }
QTableView::item { padding: 0 8px; border: none; }
QTableView::item:selected { background: $accent_fill; color: $text; }
QHeaderView { background: $panel; border: none; }
QHeaderView::section { background: $panel; color: $text_faint; border: none;
  padding: 4px 8px 4px 11px; font-size: ${small}px; text-align: left; }

QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $scroll; border-radius: 3px; margin: 2px 3px; min-height: 26px;
  min-width: 26px; }
QScrollBar::handle:horizontal { margin: 3px 2px; }
QScrollBar::handle:hover { background: $text_faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QScrollArea, QScrollArea > QWidget > QWidget#scrolled { background: transparent; border: none; }
QAbstractScrollArea::corner { background: transparent; }

QMainWindow::separator { background: $window; width: 10px; height: 10px; }
QMainWindow::separator:hover { background: $accent_fill; }
QSplitter::handle { image: none; background: transparent; }
QSplitter::handle:hover { background: $accent_fill; }
QTabBar { background: transparent; border: none; }
QTabBar::tab { background: transparent; color: $text_muted; padding: 8px 4px 5px 4px;
  margin: 0 10px 3px 12px; border: none; border-bottom: 2px solid transparent; font-weight: 600; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:selected:focus { color: $accent_text; border: 1px solid $accent; border-radius: 5px;
  border-bottom: 2px solid $accent; padding: 7px 3px 5px 3px; }

QProgressBar { background: $border; border: none; border-radius: 3px; max-height: 6px;
  min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSlider::groove:horizontal { background: $border; height: 4px; border-radius: 2px; }
QSlider::handle:horizontal { background: $accent; width: 14px; height: 14px; margin: -5px 0;
  border-radius: 7px; }
QSlider::sub-page:horizontal { background: $accent; border-radius: 2px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $text_faint; border-radius: 4px;
  background: $panel; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; }

#findingTitle { font-family: $mono; font-size: 14px; font-weight: 600; }
#rule { background: $border; max-height: 1px; border: none; }
#fix { background: $success_fill; border: none; border-radius: 6px; }
#fixTitle { font-weight: 600; }
#code { font-family: $mono; font-size: ${small}px; color: $text_muted; }
#command { font-family: $mono; font-size: ${small}px; background: $background; border-radius: 5px;
  padding: 7px 9px; }
#strip { background: $accent_fill; border: none; border-top: 1px solid $border; }
#strip[place="above"] { border-top: none; border-bottom: 1px solid $border; }
#strip[state="trouble"] { background: $trouble_fill; }
#strip QLabel { font-size: ${small}px; }
#editorBar { background: $background; border: none; border-top: 1px solid $border; }
#editorBar QPushButton#icon { font-family: $mono; font-size: ${small}px; padding: 3px 5px; }
#listed { background: transparent; color: $text_muted; font-family: $sans; font-size: ${small}px; }
#rounds { background: $panel; border: 1px solid $border; border-radius: 6px; margin: 2px 12px 0; }
#roundNumber { font-weight: 600; font-size: ${small}px; }
#roundTrouble { color: $trouble_text; font-weight: 600; font-size: ${small}px; }
#strip QPushButton#link { font-size: ${small}px; }
""")


def stylesheet(theme: Theme) -> str:
    def families(face: str) -> str:
        return ", ".join(f'"{name}"' for name in FACES[face].families)  # type: ignore[index]

    return _SHEET.substitute(
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
