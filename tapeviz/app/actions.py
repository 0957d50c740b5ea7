"""Everything the user can do, in one table: menu, words, shortcut, and what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..canvas.view import KEY_STEP
from ..formats import WRITERS, Writer
from .action import ACROSS, Action, filled_on_opening, section
from .editing_actions import EDITING

if TYPE_CHECKING:
    from .window import Window


def _has_trace(window: Window) -> bool:
    return bool(window.document.trace.ops)


def _has_scene(window: Window) -> bool:
    return bool(window.document.scene.boxes)


def _has_steps(window: Window) -> bool:
    return bool(window.document.steps)


def _has_rounds(window: Window) -> bool:
    return window.document.rounds > 1


def _has_selection(window: Window) -> bool:
    return bool(window.document.selection.nodes)


def _export(suffix: str, writer: Writer) -> Action:
    return Action(
        f"export-{suffix}",
        f"{writer.entry} …",
        lambda w: w.pictures.ask(suffix),
        tip=writer.tip,
        is_there=_has_scene,
    )


def _theme(name: str, text: str) -> Action:
    return Action(
        f"theme-{name}",
        text,
        lambda w: w.choose_theme(name),
        tip=f"{text} colours",
        is_on=lambda w: w.theme_choice == name,
    )


ACTIONS: tuple[Action, ...] = (
    *section(
        "&File",
        Action("new", "&New", lambda w: w.files.new(), "Ctrl+N", "An empty text"),
        Action(
            "open", "&Open …", lambda w: w.files.ask_open(), "Ctrl+O", "Open a .py, .ipynb or .tape"
        ),
        Action("recent", "Open &recent", filled_on_opening),
        Action("save", "&Save", lambda w: w.files.save(), "Ctrl+S", "Save the text"),
        Action(
            "save-as",
            "Save &as …",
            lambda w: w.files.ask_save(),
            "Ctrl+Shift+S",
            "Save the text under another name",
        ),
    ),
    *section(
        "&File",
        Action(
            "save-recording",
            "Save re&cording …",
            lambda w: w.files.ask_save_recording(),
            tip="Keep what was recorded, as a .tape",
            is_there=lambda w: w.files.can_save_recording(),
        ),
        Action(
            "compare-file",
            "Compare &with file …",
            lambda w: w.side_by_side.ask_file(),
            tip="See this run beside that of another snippet or recording",
            is_there=_has_trace,
        ),
        follows_line=True,
    ),
    *section(
        "&File/&Export",
        *(_export(suffix, writer) for suffix, writer in WRITERS.items()),
        Action(
            "export-rounds",
            "GIF of the &rounds …",
            lambda w: w.pictures.film_rounds(),
            tip="A film of the rounds of a training loop",
            is_there=lambda w: w.document.site is not None,
        ),
    ),
    *section(
        "&File/&Export",
        Action(
            "dark-pictures",
            "In &dark colours",
            lambda w: w.pictures.toggle_dark(),
            tip="Pictures and pages are light, unless this is on",
            is_on=lambda w: w.pictures.is_dark,
        ),
        follows_line=True,
    ),
    *section(
        "&File",
        Action(
            "copy-answer",
            "Copy as &answer",
            lambda w: w.pictures.copy_answer(),
            "Ctrl+Alt+C",
            "Cause, code with the cut marked, fixes and values as Markdown, with the picture",
            is_there=_has_scene,
        ),
        Action(
            "copy-picture",
            "&Copy picture",
            lambda w: w.pictures.copy(),
            "Ctrl+Shift+C",
            "Put the picture on the clipboard",
            is_there=_has_scene,
        ),
    ),
    *section(
        "&File",
        Action(
            "quit", "&Quit", lambda w: w.close(), "Ctrl+Q", "Close the window; the text is kept"
        ),
        follows_line=True,
    ),
    *EDITING,
    *section(
        "&View",
        Action(
            "fit",
            "&Fit the graph",
            lambda w: w.graph.view.fit(),
            "Ctrl+0",
            "All of the graph in sight",
        ),
        Action(
            "zoom-in", "Zoom &in", lambda w: w.graph.view.zoom(KEY_STEP), "Ctrl+Alt++ Ctrl+Alt+="
        ),
        Action("zoom-out", "Zoom &out", lambda w: w.graph.view.zoom(1 / KEY_STEP), "Ctrl+Alt+-"),
        Action(
            "show-cut",
            "Show the &cut",
            lambda w: w.show_cut(),
            "Ctrl+K",
            "Zoom to where the gradient stops",
            is_there=lambda w: w.first_cause() is not None,
        ),
        Action(
            "bridge",
            "&Across the cut",
            lambda w: w.document.show_bridge(not w.document.view.overlay.show_bridge),
            "Ctrl+B",
            ACROSS,
            is_there=lambda w: (
                w.document.view.overlay.show_bridge or not w.document.diagnosing.lacks_bridge
            ),
            is_on=lambda w: w.document.view.overlay.show_bridge,
        ),
        Action(
            "leave-comparison",
            "&Back to the graph",
            lambda w: w.document.comparing.leave(),
            "Alt+G",
            "Show this run alone, no longer beside another",
            is_there=lambda w: w.document.comparing.both is not None,
        ),
        Action(
            "show-all",
            "Show &all ops",
            lambda w: w.document.change_form(shows_all=not w.document.view.shows_all),
            "Ctrl+E",
            "Also earlier rounds, updates and whatever else no gradient call touches",
            is_on=lambda w: w.document.view.shows_all,
        ),
    ),
    *section(
        "&View",
        Action(
            "unfold",
            "&Unfold",
            lambda w: [w.document.folding.unfold(node) for node in w.document.selection.nodes],
            "Ctrl+]",
            "Open the selected group",
            is_there=_has_selection,
        ),
        Action(
            "fold",
            "Fol&d",
            lambda w: [w.document.folding.fold(node) for node in w.document.selection.nodes],
            "Ctrl+[",
            "Close the group that the selected node stands in",
            is_there=_has_selection,
        ),
        follows_line=True,
    ),
    *section(
        "&View",
        Action("layout", "&Layout", filled_on_opening),
        Action("direction", "&Direction", filled_on_opening),
        Action("grouping", "Fold &groups by", filled_on_opening),
        follows_line=True,
    ),
    *section(
        "&View/&Theme",
        _theme("light", "&Light"),
        _theme("dark", "&Dark"),
        _theme("system", "&As the system"),
    ),
    *section(
        "&View",
        Action("panels", "&Panels", filled_on_opening),
        Action("restore-panels", "Panels in their &first places", lambda w: w.stage.place_docks()),
    ),
    *section(
        "&View",
        Action(
            "full-screen",
            "F&ull screen",
            lambda w: w.toggle_full_screen(),
            "F11",
            is_on=lambda w: w.isFullScreen(),
        ),
        follows_line=True,
    ),
    *section(
        "&Run",
        Action(
            "run",
            "&Run",
            lambda w: w.run(),
            "Ctrl+Return Ctrl+Enter F5",
            "Run the snippet in a fresh process",
        ),
        Action(
            "run-part",
            "Run selection or &cell",
            lambda w: w.run_part(),
            "Ctrl+Shift+Return",
            "Run the selected lines, or the # %% cell that the cursor is in; those above only if"
            " they bind names that it uses",
        ),
        Action(
            "stop",
            "&Stop",
            lambda w: w.document.stop(),
            "Shift+F5 Ctrl+.",
            "Stop the snippet; what was recorded stays",
            is_there=lambda w: w.document.is_running,
        ),
    ),
    *section(
        "&Run",
        Action(
            "first",
            "First step",
            lambda w: w.document.stepping.first(),
            "Alt+Home",
            is_there=_has_steps,
        ),
        Action(
            "back",
            "Step &back",
            lambda w: w.document.stepping.back(),
            "Alt+Left F9",
            is_there=_has_steps,
        ),
        Action(
            "forward",
            "Step &forward",
            lambda w: w.document.stepping.forward(),
            "Alt+Right F10",
            is_there=_has_steps,
        ),
        Action(
            "last",
            "Last step",
            lambda w: w.document.stepping.last(),
            "Alt+End",
            is_there=_has_steps,
        ),
        follows_line=True,
    ),
    *section(
        "&Run",
        Action(
            "round-before",
            "Round &before",
            lambda w: w.document.select_round(w.document.round - 1),
            "Alt+PgUp",
            "The same place in the source, or the same function, one call earlier",
            is_there=_has_rounds,
        ),
        Action(
            "next-round",
            "&Next round",
            lambda w: w.document.select_round(w.document.round + 1),
            "Alt+PgDown",
            "The same place in the source, or the same function, one call later",
            is_there=_has_rounds,
        ),
        Action(
            "play",
            "&Play or pause",
            lambda w: w.backprop.toggle_play(),
            "F8",
            "Walk through the backward pass",
            is_there=_has_steps,
        ),
        Action(
            "to-selection",
            "Walk to the &selection",
            lambda w: w.document.stepping.to_selection(),
            "Alt+T",
            "Step until the selected node is reached",
            is_there=_has_selection,
        ),
        Action(
            "whole-flow",
            "&Whole flow",
            lambda w: w.document.stepping.go_to(None),
            "Alt+W",
            "Leave the stepper: show all of the gradient",
            is_there=_has_steps,
        ),
        Action(
            "fixes",
            "&Try fixes",
            lambda w: w.toggle_fixes(),
            tip="After a run, try edits that mend what is wrong: this runs the snippet again",
            is_on=lambda w: w.document.fix_trials.is_on,
        ),
        Action("limits", "&Limits", filled_on_opening),
        Action("interpreter", "&Interpreter", filled_on_opening),
        follows_line=True,
    ),
    *section(
        "&Help",
        Action("examples", "&Examples", filled_on_opening),
        Action(
            "commands",
            "&Find a command …",
            lambda w: w.show_commands(),
            "Ctrl+Shift+P",
            "Everything that can be done, found by its words",
        ),
        Action("keys", "&Keyboard", lambda w: w.show_keys(), "F1", "Every shortcut"),
        Action("about", "&About tapeviz", lambda w: w.show_about()),
    ),
)
