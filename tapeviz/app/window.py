"""The window: bars and panels around one document, connected."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QIcon, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QWidget

from ..analysis.findings import Cause, Fix
from ..document import Document
from ..document.text.parts import LinePart, cell_at
from ..files.resources import resource
from ..panels.backprop.panel import BackpropPanel
from ..panels.diagnosis.panel import DiagnosisPanel
from ..panels.graph import GraphPanel
from ..panels.look import THEMES, Theme, hand_down
from ..panels.output.panel import OutputPanel
from ..panels.panel import Panel
from ..panels.rounds.panel import OverTimePanel
from ..panels.rows import in_column
from ..panels.source.panel import SourcePanel
from ..panels.tensor.panel import TensorPanel
from .action import EditVerb
from .command_palette import CommandPalette
from .compare import SideBySide
from .dropping import Drops
from .front_panel import FrontPanel
from .help import about_window, keys_window
from .menus import Menus, form_words
from .processes import trouble
from .processes.kernels import Kernels
from .search import named_repetition
from .stage import Stage
from .status_bar import StatusBar
from .storage import kept
from .storage.draft import DraftKeeper
from .storage.files import Files
from .storage.pictures import Pictures
from .storage.settings import Settings
from .style import palette, stylesheet
from .top_bar import TopBar

if TYPE_CHECKING:
    from .processes.live import LivePipeline

MOST_SKIPPED = 200
"""Hidden widgets that Tab skips in a row, at most."""
PanelKind = TypeVar("PanelKind", bound=Panel)
PANELS: tuple[type[Panel], ...] = (
    SourcePanel,
    DiagnosisPanel,
    BackpropPanel,
    TensorPanel,
    OutputPanel,
    OverTimePanel,
)
"""The docks in the order of their shortcuts: Ctrl+1, then Ctrl+3 and so on; Ctrl+2 is the graph."""


class Window(QMainWindow):
    """The main window of a document, with all its panels."""

    document: Document
    stage: Stage
    graph: GraphPanel
    source: SourcePanel
    backprop: BackpropPanel
    top_bar: TopBar
    files: Files
    pictures: Pictures
    side_by_side: SideBySide
    settings: Settings

    def __init__(
        self, document: Document, settings: Settings, pipeline: LivePipeline | None = None
    ) -> None:
        super().__init__()
        self.document = document
        self.settings = settings
        self._pipeline = pipeline
        document.setParent(self)
        self.theme_choice = settings.text("theme", "system")
        self.theme: Theme = self._chosen_theme()
        self.draft = DraftKeeper(document, settings.state)
        self.files = Files(document, settings, self.draft, self)
        self.pictures = Pictures(document, settings, self.files, self)
        self.side_by_side = SideBySide(document, self.files, self)
        self._make_panels()
        self.stage = Stage(self.graph, self.panels, self.theme)
        FrontPanel(document, self.stage)
        self.menus = Menus(self, self.menuBar())
        actions = self.menus.actions
        self.top_bar = TopBar(document, self.theme, actions["run"], actions["stop"])
        self.status = StatusBar(document)
        pools = pipeline.pools if pipeline is not None else None
        self.kernels = Kernels(document, pools, self.top_bar, self.status, self)
        self._fill_bar()
        middle = QWidget()
        in_column(middle, self.top_bar, (self.stage, 1), self.status, spacing=0)
        self.setCentralWidget(middle)
        self._connect()
        for name, keys in self.panel_keys.items():
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(partial(self.call_panel, name))
        QWidget.setTabOrder(self.source.editor, self.graph.view)
        QWidget.setTabOrder(self.graph.view, self.diagnosis.focus_target())
        self._is_first_show = self._may_ask = True
        self._restore()
        self.apply_theme()
        self.setWindowIcon(QIcon(str(resource("icons", "tapeviz.svg"))))
        self._show_title()

    def _make_panels(self) -> None:
        self.graph = GraphPanel(self.document, self.theme)
        made = {kind.name: kind(self.document, self.theme) for kind in PANELS}
        self.panels: dict[str, Panel] = made
        names = ["source", "graph", *(name for name in made if name != "source")]
        self.panel_keys = {name: f"Ctrl+{number}" for number, name in enumerate(names, start=1)}
        self.source = _panel_of(made, SourcePanel)
        self.diagnosis = _panel_of(made, DiagnosisPanel)
        self.backprop = _panel_of(made, BackpropPanel)
        self.tensor = _panel_of(made, TensorPanel)
        self.output = _panel_of(made, OutputPanel)

    def _fill_bar(self) -> None:
        bar, menus = self.top_bar, self.menus
        for button, fill in (
            (bar.examples_button, menus.fill_examples),
            (bar.layout_button, menus.fill_layout_button),
            (bar.kernel_button, menus.fill_kernels),
            (bar.limits_button, menus.fill_limits),
        ):
            menu = button.menu()
            menu.aboutToShow.connect(partial(fill, menu))
        self.kernels.show_limits()
        export = bar.export_button.menu()
        for name, action in menus.actions.items():
            if name.startswith(("export-", "copy-")) or name == "dark-pictures":
                export.addAction(action)
        export.aboutToShow.connect(menus.refresh)

    def _connect(self) -> None:
        document = self.document
        document.text.changed.connect(self._show_title)
        document.view_changed.connect(self._show_layout)
        document.failed.connect(trouble.note)
        self.top_bar.searched.connect(self.graph.show_found)
        self.top_bar.search_left.connect(self.graph.view.setFocus)
        self.diagnosis.apply_requested.connect(self.apply_fix)
        self.graph.stale.run_requested.connect(lambda: self.run())
        self.source.editor.menu_requested.connect(self._fill_context_menu)
        self.diagnosis.compare_requested.connect(self.side_by_side.show_fix)
        self.graph.strip.apply_requested.connect(self.apply_fix)
        self.graph.strip.texts_requested.connect(lambda: self.side_by_side.show_texts(self.theme))
        self.side_by_side.apply_requested.connect(self.apply_fix)
        self.stage.escaped.connect(document.comparing.leave)
        self.files.set_aside.connect(self.status.offer_former)
        self.files.began_anew.connect(self.source.editor.setFocus)
        self.files.run_requested.connect(lambda: self.run())
        self.diagnosis.example_requested.connect(self.files.open_text)
        self.diagnosis.interpreter_requested.connect(
            self.top_bar.kernel_button.showMenu, Qt.ConnectionType.QueuedConnection
        )
        for signal in (
            document.run_started,
            document.run_ended,
            document.scene_changed,
            document.step_changed,
            document.selection_changed,
            document.comparing.changed,
        ):
            signal.connect(self.menus.refresh)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)
        drops = Drops(self)
        drops.file_dropped.connect(self.files.open)
        drops.code_dropped.connect(self.paste_anew)

    # Looks

    def _chosen_theme(self) -> Theme:
        if self.theme_choice in THEMES:
            return THEMES[self.theme_choice]
        is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return THEMES["dark" if is_dark else "light"]

    def choose_theme(self, name: str) -> None:
        """``light``, ``dark`` or ``system``."""
        self.theme_choice = name
        kept.keep(self, self.settings)
        self.apply_theme()

    def _follow_system(self) -> None:
        if self.theme_choice not in THEMES:
            self.apply_theme()

    def apply_theme(self) -> None:
        before, self.theme = self.theme, self._chosen_theme()
        application, sheet = QApplication.instance(), stylesheet(self.theme)
        if isinstance(application, QApplication) and self.styleSheet() != sheet:
            application.setPalette(palette(self.theme))
            # Set on the window, not on the application, where Qt would also style the hundreds of
            # widgets that pyqtgraph makes for menus that are never shown.
            self.setStyleSheet(sheet)
        if self.theme is not before:
            hand_down(self.theme, self)

    def _show_layout(self) -> None:
        self.top_bar.layout_button.setText(form_words(self.document.view.layout))

    def _show_title(self) -> None:
        text = self.document.text
        self.setWindowTitle(f"{text.filename}[*] – tapeviz")
        self.setWindowModified(text.is_unsaved)

    def toggle_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    def call_panel(self, name: str) -> None:
        """Show a panel, bring it to the front, and give it the keyboard."""
        if name == "graph":
            self.graph.focus_target().setFocus()
            return
        self.stage.call(name)

    def focusNextPrevChild(self, is_forward: bool) -> bool:
        """Let Tab skip widgets in docks that are hidden behind other tabs."""
        for _ in range(MOST_SKIPPED):
            if not super().focusNextPrevChild(is_forward):
                return False
            reached = QApplication.focusWidget()
            if reached is None or not self.stage.is_behind(reached):
                return True
        return True

    def find_somewhere(self) -> None:
        """Find in the text if the editor has the keyboard, else in the graph."""
        if self.source.has_keyboard():
            self.source.find_text()
        else:
            self.focus_search()

    def find_next(self, by: int) -> None:
        if self.source.has_keyboard() and self.source.find_bar.isVisible():
            self.source.find_bar.step(by)
        else:
            self.top_bar.step_found(by)

    def edit(self, how: EditVerb) -> None:
        """Cut, copy, paste or select all in the widget with the keyboard, or in the editor if that
        widget cannot."""
        act = getattr(QApplication.focusWidget() or self.source.editor, how, None)
        (act or getattr(self.source.editor, how))()

    def paste_anew(self, code: str) -> None:
        """Replace the text by another one, which is repaired as if it had been pasted."""
        if self.source.editor.takes(code) and self.files.new():
            self.source.editor.paste_code(code)

    def _fill_context_menu(self, menu: QMenu) -> None:
        menu.addSeparator()
        for name in ("run-part", "comment", "find", "replace", "go-to-line"):
            menu.addAction(self.menus.actions[name])

    def focus_search(self) -> None:
        self.top_bar.search.setFocus()
        self.top_bar.search.selectAll()

    # Runs

    def run(self, part: LinePart | None = None) -> None:
        """Run the text, or only some of its lines."""
        if self._pipeline is not None:
            path = self.document.text.path
            self._pipeline.directory = path.parent if path else None
        self.document.run(part)

    def part_to_run(self) -> LinePart | None:
        """The selected lines, else the ``# %%`` cell that the cursor is in."""
        editor = self.source.editor
        first, last = editor.selected_lines()
        if first:
            return first, last
        return cell_at(self.document.text.source, editor.textCursor().blockNumber() + 1)

    def run_part(self) -> None:
        part = self.part_to_run()
        if part is None:
            self.document.say("Select lines, or begin cells with # %%, to run them alone")
        else:
            self.run(part)

    def first_cause(self) -> Cause | None:
        call = self.document.current_call
        findings = call.findings if call else ()
        return next((finding.cause for finding in findings if finding.cause is not None), None)

    def show_cut(self) -> None:
        cause = self.first_cause()
        if cause is not None:
            self.document.selecting.show_cause(cause)

    def apply_fix(self, fix: Fix) -> None:
        """Put the text of a fix into the editor, as one step to undo, and run it."""
        text, part = self.document.repairing.fixed_text(fix)
        self.source.edit_text(text)
        self.source.editor.setFocus()  # the card with its button goes
        self.document.showing.follow_fix(fix)
        self.run(part)

    def show_commands(self) -> None:
        named = partial(named_repetition, self.document)
        CommandPalette(self.menuBar(), self, named).show()

    def show_keys(self) -> None:
        window = keys_window(self, tuple(self.panel_keys.values()))
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.open()

    def show_about(self) -> None:
        window = about_window(self, self.document.trace.tensorflow)
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.open()

    # From one start to the next

    def _restore(self) -> None:
        """Restore what the last window kept; a window that is the first fits the screen."""
        self.resize(1440, 900)
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            room = screen.availableGeometry().size()
            self.resize(min(1440, room.width() - 40), min(900, room.height() - 60))
        kept.restore(self, self.settings)

    def toggle_fixes(self) -> None:
        trials = self.document.fix_trials
        trials.is_on = not trials.is_on
        kept.keep(self, self.settings)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_first_show:
            self._is_first_show = False
            self.source.editor.setFocus()

    def close_unasked(self) -> None:
        """Close without a question, as when the system ends the process."""
        self._may_ask = False
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_ask and not self.files.may_leave_text(is_closing=True):
            event.ignore()
            return
        self.source.completion.close()
        self.draft.close()
        kept.keep(self, self.settings)
        self.settings.write()
        self.document.runs.forget()
        event.accept()


def _panel_of(panels: dict[str, Panel], kind: type[PanelKind]) -> PanelKind:
    found = panels[kind.name]
    assert isinstance(found, kind)
    return found
