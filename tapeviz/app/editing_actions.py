"""The rows of the table of actions that edit the text and find in it."""

from __future__ import annotations

from ..panels.look import CODE
from .action import Action, EditVerb, section


def _verb(name: str, text: str, keys: str, verb: EditVerb) -> Action:
    """An action that the widget with the keyboard performs, also when its key is pressed."""
    return Action(name, text, lambda w: w.edit(verb), keys, is_own_key=True)


EDITING: tuple[Action, ...] = (
    *section(
        "&Edit",
        Action("undo", "&Undo", lambda w: w.source.editor.undo(), "Ctrl+Z"),
        Action("redo", "&Redo", lambda w: w.source.editor.redo(), "Ctrl+Shift+Z Ctrl+Y"),
    ),
    *section(
        "&Edit",
        _verb("cut", "Cu&t", "Ctrl+X", "cut"),
        _verb("copy", "&Copy", "Ctrl+C", "copy"),
        _verb("paste", "&Paste", "Ctrl+V", "paste"),
        _verb("select-all", "Select &all", "Ctrl+A", "selectAll"),
        follows_line=True,
    ),
    *section(
        "&Edit",
        Action(
            "find",
            "&Find …",
            lambda w: w.find_somewhere(),
            "Ctrl+F",
            "In the text while it has the keyboard, else in the graph",
        ),
        Action("find-next", "Find &next", lambda w: w.find_next(1), "F3"),
        Action("find-before", "Find pre&vious", lambda w: w.find_next(-1), "Shift+F3"),
        Action(
            "replace",
            "&Replace …",
            lambda w: w.source.find_text(with_replace=True),
            "Ctrl+H",
            "Find in the text and put something else there",
        ),
        Action(
            "find-in-graph",
            "Find in the &graph",
            lambda w: w.focus_search(),
            "Ctrl+Shift+F",
            "Find an op, a name or a line",
        ),
        Action(
            "go-to-line",
            "Go to &line …",
            lambda w: w.source.ask_line(),
            "Ctrl+G",
            "Put the cursor on a line, by its number",
        ),
        Action(
            "complete",
            "Co&mplete the name",
            lambda w: w.source.completion.ask(),
            "Ctrl+Space",
            "Show the names that fit at the cursor",
        ),
        follows_line=True,
    ),
    *section(
        "&Edit",
        Action(
            "comment",
            "Comment &in or out",
            lambda w: w.source.editor.toggle_comment(),
            "Ctrl+/",
            "Turn the selected lines into comments, or back",
        ),
        Action(
            "duplicate",
            "&Duplicate lines",
            lambda w: w.source.editor.duplicate(),
            "Ctrl+D",
            "Put a copy of the selected lines below them",
        ),
        Action("lines-up", "Move lines up", lambda w: w.source.editor.move_lines(-1), "Alt+Up"),
        Action(
            "lines-down", "Move lines down", lambda w: w.source.editor.move_lines(1), "Alt+Down"
        ),
        follows_line=True,
    ),
    *section(
        "&Edit",
        Action("larger-text", "Lar&ger text", lambda w: w.source.editor.zoom(1), "Ctrl++ Ctrl+="),
        Action("smaller-text", "S&maller text", lambda w: w.source.editor.zoom(-1), "Ctrl+-"),
        Action("usual-text", "Text in its usual si&ze", lambda w: w.source.editor.set_size(CODE)),
        follows_line=True,
    ),
)
