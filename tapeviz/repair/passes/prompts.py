"""A pass for interpreter sessions: prompts are removed, answers become comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..page import LineEdit, Page, aside, blank
from ..parsing import SyntaxFailure, parse
from ..scanning import scan_lines

_PROMPT = re.compile(r"^\s*(?P<name>>>>(?!>)|In\s?\[[\d\s*]*\]:)(?P<gap> ?)(?P<code>.*)$")
_MORE = re.compile(r"^\s*(?P<name>\.\.\.(?:\.+:|:)?)(?P<gap> |$)(?P<code>.*)$")
_ANSWER = re.compile(r"^\s*Out\s?\[[\d\s]*\]:\s?(?P<value>.*)$")
_CELL = re.compile(r"^\s*\[[\d\s*]*\]:\s*$")
_WHAT = "output: kept as a comment"


@dataclass(slots=True)
class _Session:
    """The state of a session while its lines are read."""

    entered: list[str] = field(default_factory=list)
    """The lines of the statement typed last, without prompts; empty before a prompt and after a
    blank line."""
    answers: bool = False
    """The lines up to the next blank one are certainly an answer (``Out[3]:``)."""

    def reset(self) -> None:
        self.entered, self.answers = [], False

    def may_answer(self) -> bool:
        """Whether the statement typed last may print something."""
        tree = parse("\n".join(self.entered).strip())
        if isinstance(tree, SyntaxFailure) or not tree.body:
            return bool(self.entered)
        quiet = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom)
        return not isinstance(tree.body[-1], quiet)


def drop_prompts(page: Page) -> Iterator[LineEdit]:
    """Remove ``>>>``, ``...``, ``In [3]:`` and ``Out[3]:``, and make comments of the answers."""
    if not any(map(_is_session_line, page.lines)):
        return
    session = _Session()
    in_string = False
    scans = scan_lines(page.lines)
    for index, line in enumerate(page.lines):
        # A string that began after a prompt continues after prompts; in other strings >>> is text.
        starts_inside = in_string and not session.entered
        in_string = bool(scans[index].after.quote)
        if starts_inside:
            continue
        if prompt := _PROMPT.match(line):
            session.answers = False
            session.entered = [prompt["code"]] if prompt["code"].strip() else []
            yield _unprompted(index, prompt)
        elif session.entered and (more := _MORE.match(line)):
            session.entered.append(more["code"])
            yield _unprompted(index, more)
        elif answer := _ANSWER.match(line):
            session.reset()
            session.answers = True
            yield _answered(page, index, answer["value"])
        elif _CELL.match(line):
            session.reset()
            yield blank(index, f"removed the prompt {line.strip()}")
        elif not line.strip():
            session.reset()
        elif session.answers or (session.entered and _is_answer(session, line)):
            yield aside(page, index, _WHAT)
        else:
            session.reset()


def accidental_prompt(tree: ast.Module) -> int | None:
    """The line of an ``In [3]: x`` that parses as an annotation of ``In[3]``; None without one."""
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Subscript(value=ast.Name(id="In" | "Out")), value=None):
                return node.lineno
    return None


def _is_session_line(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_PROMPT, _ANSWER, _CELL))


def _unprompted(index: int, prompt: re.Match[str]) -> LineEdit:
    return LineEdit(index, prompt["code"], f"removed the prompt {prompt['name']}")


def _answered(page: Page, index: int, value: str) -> LineEdit:
    if value.strip():
        return aside(page, index, _WHAT)
    return blank(index, f"removed the prompt {page.lines[index].strip()}")


def _is_answer(session: _Session, line: str) -> bool:
    """Whether a line after a typed statement is its output, not code without a prompt."""
    tree = parse(line.strip())
    if isinstance(tree, SyntaxFailure):
        # `with …:` or the first line of a long call: code, if it looks like it.
        return session.may_answer() and not _STARTS_CODE.match(line)
    if not all(isinstance(node, ast.Expr) for node in tree.body):
        return False
    return session.may_answer() and not _calls(tree, _SHOWING)


_STARTS_CODE = re.compile(
    r"^\s*(?:(?:with|for|while|if|def|class|try|else|elif|except|finally|import|from|return|async)\b"
    r"|[A-Za-z_][\w.]*\s*[-+*/]?=(?!=)|print\s*\(|@\w)"
)
_SHOWING = frozenset({"print", "tf.print"})


def _calls(tree: ast.Module, names: frozenset[str]) -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) in names for node in ast.walk(tree)
    )
