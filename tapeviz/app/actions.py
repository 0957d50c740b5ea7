"""Everything the user can do, in one table: menu, words, shortcut, and what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..canvas.view import KEY_STEP
from ..export.writing import WRITERS, Writer
from .action import Act, Action
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
    return window.document.site is not None


def _has_selection(window: Window) -> bool:
    return bool(window.document.selection.nodes)


def _export(suffix: str, writer: Writer) -> Action:
    return Action(
        f"export-{suffix}",
        "&File/&Export",
        f"{writer.entry} …",
        (),
        writer.tip,
        lambda w: w.pictures.ask(suffix),
        is_there=_has_scene,
    )


def _theme(name: str, text: str) -> Action:
    return Action(
        f"theme-{name}",
        "&View/&Theme",
        text,
        (),
        f"{text} colours",
        lambda w: w.choose_theme(name),
        is_on=lambda w: w.theme_choice == name,
    )


def _step(
    name: str, text: str, keys: tuple[str, ...], act: Act, follows_line: bool = False
) -> Action:
    return Action(name, "&Run", text, keys, "", act, is_there=_has_steps, follows_line=follows_line)


ACTIONS: tuple[Action, ...] = (
    Action("new", "&File", "&New", ("Ctrl+N",), "An empty text", lambda w: w.files.new()),
    Action(
        "open",
        "&File",
        "&Open …",
        ("Ctrl+O",),
        "Open a .py, .ipynb or .tape",
        lambda w: w.files.ask_open(),
    ),
    Action("recent", "&File", "Open &recent", (), "", lambda w: None),
    Action("save", "&File", "&Save", ("Ctrl+S",), "Save the text", lambda w: w.files.save()),
    Action(
        "save-as",
        "&File",
        "Save &as …",
        ("Ctrl+Shift+S",),
        "Save the text under another name",
        lambda w: w.files.ask_save(),
    ),
    Action(
        "save-recording",
        "&File",
        "Save re&cording …",
        (),
        "Keep what was recorded, as a .tape",
        lambda w: w.files.ask_save_recording(),
        is_there=lambda w: w.files.can_save_recording(),
        follows_line=True,
    ),
    Action(
        "compare-file",
        "&File",
        "Compare &with file …",
        (),
        "See this run beside that of another snippet or recording",
        lambda w: w.side_by_side.ask_file(),
        is_there=_has_trace,
    ),
    *(_export(suffix, writer) for suffix, writer in WRITERS.items()),
    Action(
        "export-rounds",
        "&File/&Export",
        "GIF of the &rounds …",
        (),
        "A film of the rounds of a training loop",
        lambda w: w.pictures.film_rounds(),
        is_there=_has_rounds,
    ),
    Action(
        "dark-pictures",
        "&File/&Export",
        "In &dark colours",
        (),
        "Pictures and pages are light, unless this is on",
        lambda w: w.pictures.toggle_dark(),
        is_on=lambda w: w.pictures.is_dark,
        follows_line=True,
    ),
    Action(
        "copy-answer",
        "&File",
        "Copy as &answer",
        ("Ctrl+Alt+C",),
        "Cause, code with the cut marked, fixes and values as Markdown, with the picture",
        lambda w: w.pictures.copy_answer(),
        is_there=_has_scene,
    ),
    Action(
        "copy-picture",
        "&File",
        "&Copy picture",
        ("Ctrl+Shift+C",),
        "Put the picture on the clipboard",
        lambda w: w.pictures.copy(),
        is_there=_has_scene,
    ),
    Action(
        "quit",
        "&File",
        "&Quit",
        ("Ctrl+Q",),
        "Close the window; the text is kept",
        lambda w: w.close(),
        follows_line=True,
    ),
    *EDITING,
    Action(
        "fit",
        "&View",
        "&Fit the graph",
        ("Ctrl+0",),
        "All of the graph in sight",
        lambda w: w.graph.view.fit(),
    ),
    Action(
        "zoom-in",
        "&View",
        "Zoom &in",
        ("Ctrl+Alt++", "Ctrl+Alt+="),
        "",
        lambda w: w.graph.view.zoom(KEY_STEP),
    ),
    Action(
        "zoom-out",
        "&View",
        "Zoom &out",
        ("Ctrl+Alt+-",),
        "",
        lambda w: w.graph.view.zoom(1 / KEY_STEP),
    ),
    Action(
        "show-cut",
        "&View",
        "Show the &cut",
        ("Ctrl+K",),
        "Zoom to where the gradient stops",
        lambda w: w.show_cut(),
        is_there=lambda w: w.first_cause() is not None,
    ),
    Action(
        "bridge",
        "&View",
        "&Across the cut",
        ("Ctrl+B",),
        "Draw the gradient as it would be without the cut",
        lambda w: w.document.show_bridge(not w.document.view.overlay.show_bridge),
        is_on=lambda w: w.document.view.overlay.show_bridge,
    ),
    Action(
        "leave-comparison",
        "&View",
        "&Back to the graph",
        ("Alt+G",),
        "Show this run alone, no longer beside another",
        lambda w: w.document.comparing.leave(),
        is_there=lambda w: w.document.comparing.both is not None,
    ),
    Action(
        "show-all",
        "&View",
        "Show &all ops",
        ("Ctrl+E",),
        "Also earlier rounds, updates and whatever else no gradient call touches",
        lambda w: w.document.change_form(shows_all=not w.document.view.shows_all),
        is_on=lambda w: w.document.view.shows_all,
    ),
    Action(
        "unfold",
        "&View",
        "&Unfold",
        ("Ctrl+]",),
        "Open the selected group",
        lambda w: [w.document.folding.unfold(node) for node in w.document.selection.nodes],
        is_there=_has_selection,
        follows_line=True,
    ),
    Action(
        "fold",
        "&View",
        "Fol&d",
        ("Ctrl+[",),
        "Close the group that the selected node stands in",
        lambda w: [w.document.folding.fold(node) for node in w.document.selection.nodes],
        is_there=_has_selection,
    ),
    Action("layout", "&View", "&Layout", (), "", lambda w: None, follows_line=True),
    Action("direction", "&View", "&Direction", (), "", lambda w: None),
    Action("grouping", "&View", "Fold &groups by", (), "", lambda w: None),
    _theme("light", "&Light"),
    _theme("dark", "&Dark"),
    _theme("system", "&As the system"),
    Action("panels", "&View", "&Panels", (), "", lambda w: None),
    Action(
        "restore-panels",
        "&View",
        "Panels in their &first places",
        (),
        "",
        lambda w: w.stage.place_docks(),
    ),
    Action(
        "full-screen",
        "&View",
        "F&ull screen",
        ("F11",),
        "",
        lambda w: w.toggle_full_screen(),
        is_on=lambda w: w.isFullScreen(),
        follows_line=True,
    ),
    Action(
        "run",
        "&Run",
        "&Run",
        ("Ctrl+Return", "Ctrl+Enter", "F5"),
        "Run the snippet in a fresh process",
        lambda w: w.run(),
    ),
    Action(
        "run-part",
        "&Run",
        "Run selection or &cell",
        ("Ctrl+Shift+Return",),
        "Run the selected lines, or the # %% cell that the cursor is in; those above only if they"
        " bind names that it uses",
        lambda w: w.run_part(),
    ),
    Action(
        "stop",
        "&Run",
        "&Stop",
        ("Shift+F5", "Ctrl+."),
        "Stop the snippet; what was recorded stays",
        lambda w: w.document.stop(),
        is_there=lambda w: w.document.is_running,
    ),
    _step(
        "first",
        "First step",
        ("Alt+Home",),
        lambda w: w.document.stepping.first(),
        follows_line=True,
    ),
    _step("back", "Step &back", ("Alt+Left", "F9"), lambda w: w.document.stepping.back()),
    _step(
        "forward", "Step &forward", ("Alt+Right", "F10"), lambda w: w.document.stepping.forward()
    ),
    _step("last", "Last step", ("Alt+End",), lambda w: w.document.stepping.last()),
    Action(
        "round-before",
        "&Run",
        "Round &before",
        ("Alt+PgUp",),
        "The same place in the source, one call earlier",
        lambda w: w.document.select_round(w.document.round - 1),
        is_there=_has_rounds,
        follows_line=True,
    ),
    Action(
        "next-round",
        "&Run",
        "&Next round",
        ("Alt+PgDown",),
        "The same place in the source, one call later",
        lambda w: w.document.select_round(w.document.round + 1),
        is_there=_has_rounds,
    ),
    Action(
        "play",
        "&Run",
        "&Play or pause",
        ("F8",),
        "Walk through the backward pass",
        lambda w: w.backprop.toggle_play(),
        is_there=_has_steps,
    ),
    Action(
        "to-selection",
        "&Run",
        "Walk to the &selection",
        ("Alt+T",),
        "Step until the selected node is reached",
        lambda w: w.document.stepping.to_selection(),
        is_there=_has_selection,
    ),
    Action(
        "whole-flow",
        "&Run",
        "&Whole flow",
        ("Alt+W",),
        "Leave the stepper: show all of the gradient",
        lambda w: w.document.stepping.go_to(None),
        is_there=_has_steps,
    ),
    Action(
        "fixes",
        "&Run",
        "&Try fixes",
        (),
        "After a run, try edits that mend what is wrong: this runs the snippet again",
        lambda w: w.toggle_fixes(),
        is_on=lambda w: w.document.mending.tries_fixes,
    ),
    Action("limits", "&Run", "&Limits", (), "", lambda w: None),
    Action("interpreter", "&Run", "&Interpreter", (), "", lambda w: None),
    Action("examples", "&Help", "&Examples", (), "", lambda w: None),
    Action(
        "commands",
        "&Help",
        "&Find a command …",
        ("Ctrl+Shift+P",),
        "Everything that can be done, found by its words",
        lambda w: w.show_commands(),
    ),
    Action("keys", "&Help", "&Keyboard", ("F1",), "Every shortcut", lambda w: w.show_keys()),
    Action("about", "&Help", "&About tapeviz", (), "", lambda w: w.show_about()),
)
