"""Find where the body of a compound statement ends that lost its indentation."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .facts import Facts
from .statements import PastedStatement

_FAR = 400
"""Statements looked ahead."""


class Gap(IntEnum):
    """The lines between a statement and the one before it."""

    NONE = 0
    BLANK = 1
    """More blank lines than the page puts between any two lines."""
    WIDE = 2
    """Still more, as PEP 8 has them around functions."""
    DEBRIS = 3
    """Page text (a sentence, a fence, an answer): another piece of code begins."""


@dataclass(frozen=True, slots=True)
class Script:
    """All statements, with the gap before each and its facts."""

    statements: Sequence[PastedStatement]
    gaps: Sequence[Gap]
    facts: Sequence[Facts]
    tapes: Sequence[frozenset[str]]
    """The names of the tapes that each statement opens."""

    def __len__(self) -> int:
        return len(self.statements)


def body_end(script: Script, header: int, start: int, limit: int) -> int:
    """The index of the first statement that is certainly after the body of ``header``.

    The body starts at ``start`` and ends before ``limit``. Only for a ``with`` over tapes more is
    known: its body has the statements that the later ``tape.gradient`` needs.
    """
    limit = min(limit, start + _FAR)
    for index in range(start + 1, limit):
        if script.gaps[index] is Gap.DEBRIS:
            limit = index
            break
    tapes = script.tapes[header]
    return _tape_end(script, tapes, header, start, limit) if tapes else limit


def leaves(script: Script, header: int, start: int, index: int) -> bool:
    """Whether the statement at ``index`` is after the body of ``header``, which began at
    ``start``."""
    node = script.statements[header].node
    keyword = script.statements[header].keyword
    if keyword == "def" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _leaves_function(script, node, start, index)
    if keyword == "class" and isinstance(node, ast.ClassDef):
        return _leaves_class(script, node, index)
    if _returns(script.statements[index]) and _returns_ahead(script, index) == 1:
        return True  # of the function around the block
    return not script.tapes[header] and _leaves_block(script, header, start, index)


def ends_body(script: Script, header: int, index: int) -> bool:
    """Whether nothing can follow the statement in its body: ``return``, ``raise``, ``break``."""
    statement = script.statements[index]
    if statement.keyword or statement.tree is None:
        return False
    last = statement.tree.body[-1]
    if script.statements[header].keyword == "class":
        return False
    return isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def cannot_stay(script: Script, header: int, index: int, *, is_behind: bool) -> bool:
    """Whether a statement makes no sense in the body of ``header``, in which the lines before are.

    ``is_behind``: the line before it is directly in that body, not in a body inside it.
    """
    statement = script.statements[index]
    opener = script.statements[header]
    if statement.keyword in ("def", "@", "class"):
        if opener.keyword == "class":
            return not _takes_self(statement)
        return (
            opener.keyword != "def" or _takes_self(statement) or _returns_ahead(script, index) < 2
        )
    if is_behind and ends_body(script, header, index - 1):
        return True
    if script.facts[index].asked(script.tapes[header]) is not None:
        return True
    is_own_return = _returns(statement) and _returns_ahead(script, index) == 1
    return is_own_return and opener.keyword != "def"


def is_needed(script: Script, header: int, start: int, index: int) -> bool:
    """Whether the target of a later ``tape.gradient`` of ``header``'s tape depends on a
    statement."""
    tapes = script.tapes[header] if header >= 0 else frozenset()
    limit = _opened_again(script, tapes, start, min(len(script), start + _FAR)) if tapes else 0
    for ask in range(index + 1, limit):
        if script.facts[ask].asked(tapes) is not None:
            return index in _needed(script, tapes, start, ask, ask)
    return False


def tape_names(statement: PastedStatement) -> frozenset[str]:
    """The names of the tapes that a ``with`` opens."""
    node = statement.node
    if not isinstance(node, ast.With) or not statement.opens:
        return frozenset()
    return frozenset(
        item.optional_vars.id
        for item in node.items
        if isinstance(item.optional_vars, ast.Name)
        and isinstance(item.context_expr, ast.Call)
        and "Tape" in ast.unparse(item.context_expr.func)
    )


def _tape_end(script: Script, tapes: frozenset[str], header: int, start: int, limit: int) -> int:
    limit = _opened_again(script, tapes, start, limit)
    asked = [i for i in range(start, limit) if script.facts[i].asked(tapes) is not None]
    blank = next((i for i in range(start + 1, limit) if script.gaps[i]), limit)
    if not asked:
        own = _first_asked_of_others(script, tapes, start, limit)
        return min(blank, limit) if own is None else min(max(own, start + 1), blank)
    ask = _last_ask_over_own_gradient(script, tapes, start, asked)
    # A persistent tape is asked for several targets: all of them come from the body.
    needed = max(
        set().union(*(_needed(script, tapes, start, root, ask) for root in asked)) or {start}
    )
    end = ask
    if blank < ask:
        end = max(blank, needed + 1)
    # A gradient of another tape that nothing here needs is after both bodies.
    for index in range(needed + 1, end):
        if script.facts[index].asks:
            end = index
            break
    return max(end, start + 1)


def _opened_again(script: Script, tapes: frozenset[str], start: int, limit: int) -> int:
    for index in range(start, limit):
        statement = script.statements[index]
        if script.tapes[index] & tapes or (index > start and statement.keyword == "class"):
            return index
    return limit


def _first_asked_of_others(
    script: Script, tapes: frozenset[str], start: int, limit: int
) -> int | None:
    """The index of the first ``gradient`` of a tape that was opened before this one."""
    inner = frozenset().union(*script.tapes[start:limit])
    for index in range(start, limit):
        if any(tape not in inner | tapes for tape, _ in script.facts[index].asks):
            return index
    return None


def _last_ask_over_own_gradient(
    script: Script, tapes: frozenset[str], start: int, asked: Sequence[int]
) -> int:
    """The ``gradient`` that the body ends before: the first, unless a later one differentiates its
    result."""
    for ask in reversed(asked[1:]):
        needed = _needed(script, tapes, start, ask, ask)
        if any(index in needed for index in asked if index < ask):
            return ask
    return asked[0]


def _needed(script: Script, tapes: frozenset[str], start: int, ask: int, before: int) -> set[int]:
    """The statements in ``start:before`` that the target of the ``gradient`` at ``ask`` depends
    on."""
    names = set(script.facts[ask].asked(tapes) or ())
    needed: set[int] = set()
    for index in range(ask - 1, start - 1, -1):
        facts = script.facts[index]
        if facts.changes & names:
            if index < before:
                needed.add(index)
            names |= facts.reads
    return needed


def _leaves_function(
    script: Script, node: ast.FunctionDef | ast.AsyncFunctionDef, start: int, index: int
) -> bool:
    statement, facts = script.statements[index], script.facts[index]
    if statement.keyword == "class" or _takes_self(statement):
        return True
    own_call = node.name in facts.calls | facts.reads and not _returns(statement)
    if own_call and statement.keyword != "def":
        return True
    returns = _returns_ahead(script, index)
    if statement.keyword in ("def", "@"):
        # An inner function has one return; a second one is the outer function's.
        return returns < 2 and index > start
    if _is_main_guard(script, index):
        return True
    return bool(script.gaps[index]) and returns == 0 and not _goes_on(script, index)


def _goes_on(script: Script, index: int) -> bool:
    """Whether a function without ``return`` has more than one paragraph."""
    for ahead in range(index, min(len(script), index + _FAR)):
        if script.gaps[ahead] is Gap.WIDE:
            return ahead > index
        if _is_main_guard(script, ahead):
            return True
        if script.statements[ahead].keyword in ("def", "class", "@"):
            return False
    return False


def _is_main_guard(script: Script, index: int) -> bool:
    return script.statements[index].keyword == "if" and "__name__" in script.facts[index].reads


def _returns_ahead(script: Script, index: int) -> int:
    """The number of ``return`` lines ahead in this piece of code, up to the end of the next
    function."""
    count, functions = 0, 0
    for ahead in range(index, min(len(script), index + _FAR)):
        statement = script.statements[ahead]
        if script.gaps[ahead] is Gap.DEBRIS and ahead > index:
            break
        functions += statement.keyword == "def"
        is_outer_again = ahead > index and count and statement.keyword in ("def", "@", "class")
        if is_outer_again or functions > 1:
            break
        count += _returns(statement)
    return count


def _leaves_class(script: Script, node: ast.ClassDef, index: int) -> bool:
    statement, facts = script.statements[index], script.facts[index]
    if statement.keyword == "def":
        return not _takes_self(statement)
    if statement.keyword == "@":
        after = script.statements[index + 1] if index + 1 < len(script) else None
        return after is None or not _takes_self(after)
    if node.name in facts.reads or statement.keyword:
        return True
    return bool(script.gaps[index])


def _takes_self(statement: PastedStatement) -> bool:
    node = statement.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or statement.keyword != "def":
        return False
    return bool(node.args.args) and node.args.args[0].arg in ("self", "cls")


def _returns(statement: PastedStatement) -> bool:
    return isinstance(statement.node, ast.Return)


def _leaves_block(script: Script, header: int, start: int, index: int) -> bool:
    """`leaves` for ``for``, ``while``, ``if``, ``try``, ``else``, and a ``with`` without tapes."""
    opener, statement = script.statements[header], script.statements[index]
    if statement.keyword in ("def", "class", "@") or isinstance(
        statement.node, (ast.Import, ast.ImportFrom)
    ):
        return index > start
    if opener.keyword in ("if", "elif", "else"):
        # `if step % 10 == 0: print(…)` is the commonest body in a training loop.
        if _shows(script, start) and not _shows(script, index):
            return True
        if statement.keyword == "if":
            return True
    if not script.gaps[index] or opener.keyword == "try":
        return False
    if _is_main_guard(script, header):
        return False
    if opener.keyword in ("for", "with"):
        return not script.facts[header].binds & script.facts[index].reads
    return True


def _shows(script: Script, index: int) -> bool:
    calls = script.facts[index].calls
    return bool(calls & {"print", "tf.print"}) and not script.facts[index].binds
