"""The rows of the table of actions that edit the text and find in it."""

from __future__ import annotations

from ..panels.look import CODE
from .action import Action, EditVerb


def _verb(name: str, text: str, keys: str, verb: EditVerb, follows_line: bool = False) -> Action:
    """An action that the widget with the keyboard performs, also when its key is pressed."""
    return Action(
        name,
        "&Edit",
        text,
        (keys,),
        "",
        lambda w: w.edit(verb),
        follows_line=follows_line,
        is_own_key=True,
    )


EDITING: tuple[Action, ...] = (
    Action("undo", "&Edit", "&Undo", ("Ctrl+Z",), "", lambda w: w.source.editor.undo()),
    Action(
        "redo",
        "&Edit",
        "&Redo",
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        "",
        lambda w: w.source.editor.redo(),
    ),
    _verb("cut", "Cu&t", "Ctrl+X", "cut", follows_line=True),
    _verb("copy", "&Copy", "Ctrl+C", "copy"),
    _verb("paste", "&Paste", "Ctrl+V", "paste"),
    _verb("select-all", "Select &all", "Ctrl+A", "selectAll"),
    Action(
        "find",
        "&Edit",
        "&Find …",
        ("Ctrl+F",),
        "In the text while it has the keyboard, else in the graph",
        lambda w: w.find_somewhere(),
        follows_line=True,
    ),
    Action("find-next", "&Edit", "Find &next", ("F3",), "", lambda w: w.find_next(1)),
    Action("find-before", "&Edit", "Find pre&vious", ("Shift+F3",), "", lambda w: w.find_next(-1)),
    Action(
        "replace",
        "&Edit",
        "&Replace …",
        ("Ctrl+H",),
        "Find in the text and put something else there",
        lambda w: w.source.find_text(with_replace=True),
    ),
    Action(
        "find-in-graph",
        "&Edit",
        "Find in the &graph",
        ("Ctrl+Shift+F",),
        "Find an op, a name or a line",
        lambda w: w.focus_search(),
    ),
    Action(
        "go-to-line",
        "&Edit",
        "Go to &line …",
        ("Ctrl+G",),
        "Put the cursor on a line, by its number",
        lambda w: w.source.ask_line(),
    ),
    Action(
        "complete",
        "&Edit",
        "Co&mplete the name",
        ("Ctrl+Space",),
        "Show the names that fit at the cursor",
        lambda w: w.source.completion.ask(),
    ),
    Action(
        "comment",
        "&Edit",
        "Comment &in or out",
        ("Ctrl+/",),
        "Turn the selected lines into comments, or back",
        lambda w: w.source.editor.toggle_comment(),
        follows_line=True,
    ),
    Action(
        "duplicate",
        "&Edit",
        "&Duplicate lines",
        ("Ctrl+D",),
        "Put a copy of the selected lines below them",
        lambda w: w.source.editor.duplicate(),
    ),
    Action(
        "lines-up",
        "&Edit",
        "Move lines up",
        ("Alt+Up",),
        "",
        lambda w: w.source.editor.move_lines(-1),
    ),
    Action(
        "lines-down",
        "&Edit",
        "Move lines down",
        ("Alt+Down",),
        "",
        lambda w: w.source.editor.move_lines(1),
    ),
    Action(
        "larger-text",
        "&Edit",
        "Lar&ger text",
        ("Ctrl++", "Ctrl+="),
        "",
        lambda w: w.source.editor.zoom(1),
        follows_line=True,
    ),
    Action(
        "smaller-text",
        "&Edit",
        "S&maller text",
        ("Ctrl+-",),
        "",
        lambda w: w.source.editor.zoom(-1),
    ),
    Action(
        "usual-text",
        "&Edit",
        "Text in its usual si&ze",
        (),
        "",
        lambda w: w.source.editor.set_size(CODE),
    ),
)
