"""Passes for the debris around code: fences, tags, words of buttons, notebook and shell
commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ..imports import PROVIDED
from ..page import LineEdit, Page, aside, blank
from ..scanning import scan_lines
from ..statements import read_statements, statement_starts

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?([\w+#.-]*)[^`]*$")
_FENCED = "removed the Markdown fence"
_PYTHON_ONLY = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.With)
_BLOCK = re.compile(r"</?pre\b[^<>]*>", re.IGNORECASE)
_CODE_TAG = re.compile(r"<(?:pre|code)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:pre|code|p|br|hr|div|span|em|i|b|strong|a|ul|ol|li|blockquote|h[1-6])\b[^<>]*>",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_DIFF_HEAD = re.compile(
    r"^(?:diff --git \S|index [0-9a-f]{7,}\.\.|(?:---|\+\+\+) (?:[ab]/\S|\S+\.py\b)"
    r"|(?:new|deleted) file mode |\\ No newline at end of file)"
)
_QUOTED = re.compile(r"^\s?>(?!>)\s?")
_PYTEST_MARK = re.compile(r"^>(?=\s{3,}\S)")
_PYTEST_ERROR = re.compile(r"^E\s{3,}\S")
_NOT_PYTHON = re.compile(
    r"""bash|sh|shell|zsh|console|terminal|cmd|powershell|text|txt|plaintext|output|none|json|yaml
    |toml|html|css|javascript|js|c|cpp|c\+\+|java|diff|latex|tex|markdown|md|r|traceback|pytb""",
    re.VERBOSE,
)

_LEFTOVERS = re.compile(
    r"""^\s*(?:
    run\ code(?:\ online(?:\ \(sandbox\ code\ playgroud?n?d?\))?|\ snippet)?
    |copy(?:\ code|\ snippet|\ to\ clipboard|\ link)? |copied!? |copy\ and\ run
    |(?:hide|show|expand|view)\ (?:results?|snippet|code|source|more|output|full\ code|all\ lines)
    |show\ hidden\ characters |download\ zip |view\ raw |raw |wrap\ lines |toggle\ word\ wrap
    |open\ in\ (?:colab|google\ colab|app|playground) |run\ in\ (?:google\ colab|colab|browser)
    |view\ source\ on\ github |download\ notebook |try\ it\ (?:yourself|online) |run
    |share |follow |improve\ this\ (?:answer|question) |edit |add\ a\ comment |reply |report
    |python3? |py |code |output |input
    |[ru]/\w[\w-]* |\[\s?\d*\] |\d+(?:\.\d+)?\s?(?:ms|s|m|min|h)
    |\w+\*_\*\w*\.?(?:\s.*)?\s\d+(?:\s.*)?
    |\[/?(?:code|quote|python|php|pre)(?:=[^\]]*)?\]
    |[\w/.-]+\.(?:py|ipynb|txt|md|toml|cfg|ya?ml|json|sh)
    |(?:一键|点击|登录后)?复制(?:代码)? |运行(?:代码)? |代码 |收起 |展开 |[輸输]出 |コピー
    )\s*[:：]?\s*$""",
    re.VERBOSE | re.IGNORECASE,
)

_MAGIC = re.compile(
    r"^\s*(?:%{1,2}[A-Za-z]\w*\b.*|![\s\w./~$(-].*|\?{1,2}[\w.]+\s*|[\w.]+\?{1,2}\s*)$"
)
# IPython runs the statement after %time as a line of its own, and keeps what it binds.
_TIMED = re.compile(r"^(\s*)%time[ \t]+(?=[^\s%!-])")
_ASSIGNED_MAGIC = re.compile(r"^\s*\w+\s*=\s*(?:!|%)[\w./~-]+.*$")
_SHELL = re.compile(
    r"^\s*(?:[$#]\s+)?(?:(?:sudo\s+)?(?:pip3?|conda|mamba|apt(?:-get)?)\s+(?:-\S+\s+)*(?:install|update|uninstall)\b"
    r"|(?:\$\s*)?python3?\s+(?:-m\s+\S+|\S+\.py)\b).*$"
    r"|^\s*\$\s+\w.*$"
)


def drop_tags(page: Page) -> Iterator[LineEdit]:
    """Remove HTML tags, if the page marks code by tags: then ``<`` in code is an entity. Text
    outside of ``<pre>`` becomes comments."""
    if not _CODE_TAG.search(page.text):
        return
    has_blocks = bool(_BLOCK.search(page.text))
    depth = 0
    for index, line in enumerate(page.lines):
        is_code = depth > 0 or not has_blocks
        for tag in _BLOCK.finditer(line):
            depth = max(0, depth + (-1 if tag[0].startswith("</") else 1))
            is_code = True
        found = _TAG.search(line)
        text = _TAG.sub("", line)
        if not is_code and text.strip():
            yield aside(page, index, "text of the page: kept as a comment", is_page_text=True)
        elif found:
            yield LineEdit(index, text if text.strip() else "", f"removed the HTML tag {found[0]}")


def drop_pytest_marks(page: Page) -> Iterator[LineEdit]:
    """Remove the ``>`` with which pytest marks the line that raised, and make comments of the lines
    below it that begin with ``E`` and hold the error."""
    below_mark = False
    for index, line in enumerate(page.lines):
        is_error = _PYTEST_ERROR.match(line) is not None
        after = page.lines[index + 1] if index + 1 < len(page.lines) else ""
        if _PYTEST_MARK.match(line) and _PYTEST_ERROR.match(after):
            yield LineEdit(index, f" {line[1:]}", "removed pytest's mark >")
            below_mark = True
        elif is_error and below_mark:
            yield aside(page, index, "the error that pytest shows: kept as a comment")
        elif line.strip():
            below_mark = False


def drop_quote_marks(page: Page) -> Iterator[LineEdit]:
    """Remove the ``>`` of quoted mail and Markdown: no statement begins with it."""
    quoted = [index for index, line in enumerate(page.lines) if _QUOTED.match(line)]
    for index in statement_starts(page.lines, quoted):
        text = _QUOTED.sub("", page.lines[index])
        yield LineEdit(index, text, "removed the quotation mark >")


def apply_diffs(page: Page) -> Iterator[LineEdit]:
    """Make the new side of a unified diff: without the lines that it removes, and without marks.

    What ``diff -u`` and git write begins its parts with ``@@ -1,6 +1,7 @@``; a Markdown fence may
    be labelled ``diff`` in place of that. Without either, a text or the inside of a fence is a diff
    if it reads as one (:func:`_reads_as_diff`). A part is over with its fence, or at a line
    without a mark, once it has as many lines as its head says: what follows is code.
    """
    fences = [index for index, line in enumerate(page.lines) if _FENCE.match(line)]
    is_fenced = False
    is_part = _reads_as_diff(page.lines)
    removed = added = 0
    for index, line in enumerate(page.lines):
        fence = _FENCE.match(line)
        if fence is not None:
            fences.pop(0)
            inside = page.lines[index + 1 : fences[0] if fences else None]
            is_diff = fence[2].lower() == "diff" or _reads_as_diff(inside)
            is_fenced = is_part = is_diff and not is_fenced
        elif _DIFF_HEAD.match(line):
            is_part = is_fenced
            yield blank(index, "removed a line about the diff")
        elif hunk := _HUNK.match(line):
            is_part = True
            removed, added = (int(count or 1) for count in hunk.groups())
            yield blank(index, "removed a line about the diff")
        elif is_part and line.startswith("-"):
            removed -= 1
            yield aside(page, index, "the diff removes this line: kept as a comment")
        elif is_part and line.startswith("+"):
            added -= 1
            yield LineEdit(index, line[1:], "removed the + of the diff")
        elif is_part and line.startswith(" "):
            removed, added = removed - 1, added - 1
            yield LineEdit(index, line[1:], "removed the margin of the diff")
        elif line.strip() and not is_fenced and max(removed, added) <= 0:
            is_part = False
        else:
            removed, added = removed - 1, added - 1


def _reads_as_diff(lines: Sequence[str]) -> bool:
    """Whether each line begins with a mark of a diff, some with ``+`` and some with ``-``.

    Signs are no marks if all stand directly before an operand inside a statement, as in a list of
    numbers with a number on each line.
    """
    marks = {line[0] for line in lines if line.strip()}
    if not (marks <= {"+", "-", " "} and marks >= {"+", "-"}):
        return False
    signed = [index for index, line in enumerate(lines) if line.startswith(("+", "-"))]
    is_spaced = any(lines[index][1:2] in ("", " ", "\t") for index in signed)
    return is_spaced or bool(statement_starts(tuple(lines), signed))


def drop_fences(page: Page) -> Iterator[LineEdit]:
    """Remove Markdown fences, and make comments of the insides of fences of other languages.

    The label alone does not decide: the form of TensorFlow's issues labels Python as ``shell``.
    """
    scans = scan_lines(page.lines)
    fences = [
        index for index, line in enumerate(page.lines) if scans[index].code and _FENCE.match(line)
    ]
    opened = -1
    for index, line in enumerate(page.lines):
        if opened < 0 and not fences:
            break
        is_fence = bool(fences) and fences[0] == index
        ends_here = opened >= 0 and (is_fence or line.rstrip().endswith("```"))
        if is_fence:
            fences.pop(0)
            yield blank(index, _FENCED, is_page_text=True)
        elif ends_here:
            yield LineEdit(index, line.rstrip().rstrip("`"), _FENCED, is_page_text=True)
        if ends_here:
            yield from _other_language(page, opened, index)
        if is_fence or ends_here:
            opened = -1 if ends_here else index
    if opened >= 0:
        yield from _other_language(page, opened, len(page.lines))


def _other_language(page: Page, opened: int, end: int) -> Iterator[LineEdit]:
    """Make comments of the inside of a fence that is labelled as, and looks like, no Python."""
    fence = _FENCE.match(page.lines[opened])
    label = fence[2].lower() if fence else ""
    inside = page.lines[opened + 1 : end]
    if not _NOT_PYTHON.fullmatch(label) or _reads_as_python(inside):
        return
    for index in range(opened + 1, end):
        if page.lines[index].strip():
            what = f"not Python but {label}: kept as a comment"
            yield aside(page, index, what, is_page_text=True)


def _reads_as_python(lines: Sequence[str]) -> bool:
    """Whether most statements parse, and one of them is typical of Python."""
    if any(line.lstrip().startswith(">>> ") for line in lines):
        return True
    statements = read_statements(tuple(lines))
    trees = [statement.tree for statement in statements if statement.tree is not None]
    return 2 * len(trees) >= len(statements) and any(
        isinstance(node, _PYTHON_ONLY) or (isinstance(node, ast.Name) and node.id in PROVIDED)
        for tree in trees
        for node in ast.walk(tree)
    )


def drop_leftovers(page: Page) -> Iterator[LineEdit]:
    """Remove words of buttons: "Copy code", "Run Code Online"."""
    found = [index for index, line in enumerate(page.lines) if _LEFTOVERS.match(line)]
    for index in statement_starts(page.lines, found):
        words = page.lines[index].strip()
        is_name = re.search(rf"(?m)^\s*{re.escape(words)}\s*=", page.text)
        if not is_name:
            yield blank(index, f"removed the page's “{words}”", is_page_text=True)


def switch_off_commands(page: Page) -> Iterator[LineEdit]:
    """Make comments of IPython magics and shell commands, which compute no gradient; of ``%time``
    keep the statement."""
    commands = [index for index, line in enumerate(page.lines) if _is_command(line)]
    for index in statement_starts(page.lines, commands):
        line = page.lines[index]
        if _TIMED.match(line):
            yield LineEdit(index, _TIMED.sub(r"\1", line), "removed %time")
            continue
        command = line.strip()
        margin = line[: len(line) - len(line.lstrip())]
        # An indented command may be the only line of a body.
        off = f"{margin}pass  # {command}" if margin else f"# {command}"
        yield LineEdit(index, off, f"switched off the notebook command {command}", sets_aside=True)


def _is_command(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_MAGIC, _ASSIGNED_MAGIC, _SHELL))
