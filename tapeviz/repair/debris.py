"""Passes for what a page puts around code: fences, buttons' words, notebook and shell commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tapeviz.repair.page import Edit, Page, aside, blank
from tapeviz.repair.scanning import scan_lines
from tapeviz.repair.statements import statement_starts

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*\{?\.?([\w+#.-]*)[^`]*$")
_QUOTED = re.compile(r"^\s?>(?!>)\s?")
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
    |\w+\*_\*\w*\.?(?:\s.*)?\s\d+(?:\s.*)?
    |(?:一键|点击|登录后)?复制(?:代码)? |运行(?:代码)? |代码 |收起 |展开 |[輸输]出 |コピー
    )\s*[:：]?\s*$""",
    re.VERBOSE | re.IGNORECASE,
)

_MAGIC = re.compile(
    r"^\s*(?:%{1,2}[A-Za-z]\w*\b.*|![\s\w./~$(-].*|\?{1,2}[\w.]+\s*|[\w.]+\?{1,2}\s*)$"
)
_ASSIGNED_MAGIC = re.compile(r"^\s*\w+\s*=\s*(?:!|%)[\w./~-]+.*$")
_SHELL = re.compile(
    r"^\s*(?:[$#]\s+)?(?:(?:sudo\s+)?(?:pip3?|conda|mamba|apt(?:-get)?)\s+(?:-\S+\s+)*(?:install|update|uninstall)\b"
    r"|(?:\$\s*)?python3?\s+(?:-m\s+\S+|\S+\.py)\b).*$"
    r"|^\s*\$\s+\w.*$"
)


def drop_quote_marks(page: Page) -> Iterator[Edit]:
    """``>`` before every line, as mail and Markdown quote."""
    filled = [index for index, line in enumerate(page.lines) if line.strip()]
    if not all(_QUOTED.match(page.lines[index]) for index in filled):
        return
    for index in filled:
        yield Edit(index, _QUOTED.sub("", page.lines[index]), "removed the quotation mark >")


def drop_fences(page: Page) -> Iterator[Edit]:
    """Markdown fences, and what stands in a fence of another language."""
    inside: str | None = None
    scans = scan_lines(page.lines)
    for index, line in enumerate(page.lines):
        fence = _FENCE.match(line) if scans[index].code else None
        if fence is None and inside is not None and line.rstrip().endswith("```"):
            inside = None
            yield Edit(index, line.rstrip().rstrip("`"), "removed the Markdown fence")
        elif fence is None:
            if inside and _NOT_PYTHON.fullmatch(inside) and line.strip():
                yield aside(page, index, f"not Python but {inside}: kept as a comment")
        else:
            inside = None if inside is not None else fence[2].lower()
            yield blank(index, "removed the Markdown fence")


def drop_leftovers(page: Page) -> Iterator[Edit]:
    """Words of buttons: "Copy code", "Run Code Online"."""
    found = [index for index, line in enumerate(page.lines) if _LEFTOVERS.match(line)]
    for index in statement_starts(page.lines, found):
        words = page.lines[index].strip()
        is_name = re.search(rf"(?m)^\s*{re.escape(words)}\s*=", page.text)
        if not is_name:
            yield blank(index, f"removed the page's “{words}”")


def switch_off_commands(page: Page) -> Iterator[Edit]:
    """IPython magics and shell commands: they set up a notebook, they compute no gradient."""
    commands = [index for index, line in enumerate(page.lines) if _is_command(line)]
    for index in statement_starts(page.lines, commands):
        line = page.lines[index]
        command = line.strip()
        margin = line[: len(line) - len(line.lstrip())]
        # It may be all that a block holds.
        off = f"{margin}pass  # {command}" if margin else f"# {command}"
        yield Edit(index, off, f"switched off the notebook command {command}", sets_aside=True)


def _is_command(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_MAGIC, _ASSIGNED_MAGIC, _SHELL))
