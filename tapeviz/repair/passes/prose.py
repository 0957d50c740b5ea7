"""A pass for the sentences of a web page between its code: they become comments."""

from __future__ import annotations

import ast
import builtins
import difflib
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from ...text.names import bound_names, dotted
from ..facts import read_facts
from ..page import LineEdit, Page, aside
from ..parsing import SyntaxFailure, parse
from ..scanning import CLOSED, Open, scan
from ..sentences import (
    CODE_START,
    PROVIDED,
    is_prose,
    mistyped_keyword,
    opens_sentence,
    plain_pairs,
)
from ..statements import PastedStatement, indent_of, read_statements

_WHAT = "not Python: kept as a comment"
_BUILTINS = frozenset(dir(builtins))
_KEYWORD_AND_WORDS = re.compile(
    r"(?:with|for|while|if|elif|else|not|in|or|and|from|try|pass|as|is|except|finally)"
    r"(?: (?:[A-Za-z'-]{2,}|[aAI]),?)+ ?[:.!?]?"
)
_KEYWORD_AND_NAMES = re.compile(
    r"(?:with|for|while|if|not|in|or|and|from|as|is)(?: (?:[A-Za-z'-]+|\w+(?:\.\w+)+)(?:\(\))?,?)+"
)
_RULER = re.compile(r"([-=_*~#])\1{2,}(?: .+ \1{3,})?")
"""``=======``, ``==== FAILURES ====``"""
_VERSION = re.compile(r"([A-Za-z][\w-]+)(?: version)?:? v?\d+(?:\.\w+)+")
"""``tensorflow 2.15.0``"""
_FOREIGN_START = re.compile(r"\s*[^\W\d_a-zA-Z]")
_NUMBERED = re.compile(r"\(?([A-Za-z]{3,}) #?\d+(?:[.-]\d+)*(?![\w(\[])")
"""``Listing 4.3: A network``, ``Epoch 1: loss = 0.3``: no statement begins with name and number."""
_CONTINUES_FORMULA = re.compile(r"^\s+==?\s*\S")


def set_aside_prose(page: Page) -> Iterator[LineEdit]:
    """Make comments of sentences in any script, but not of lines that may be mistyped code."""
    statements = read_statements(page.lines)
    facts = [read_facts(statement) for statement in statements]
    names = PROVIDED.union(*(each.binds for each in facts)) - _BUILTINS
    around = _around(statements, names)
    if all(statement.tree for statement in statements) and not around:
        return
    mentioned = names.union(*(each.reads for each in facts))
    found = [
        statement
        for statement in _outside_brackets(statements)
        if is_prose(statement.text, names)
        or _is_numbered(statement.text, mentioned)
        or _begins_with_keyword(page, statement, names)
        or _is_version(statement.text, names - PROVIDED)
        or _RULER.fullmatch(statement.text.strip())
        or _is_stray_sign(page.pasted[statement.first])
        or _speaks_of_formula(page, statement, mentioned)
    ]
    found += around
    found += _paragraphs(page, statements, names)
    found += _between_sentences(statements, found)
    if found:
        # Among sentences, a line of words that parses is a sentence too.
        found += [
            statement
            for statement in statements
            if _reads_as_words(statement.node, names) or _is_number(statement)
        ]
        found += _formulas(page, statements)
    for statement in found:
        for index in range(statement.first, statement.last + 1):
            if page.lines[index].strip():
                yield aside(page, index, _WHAT, is_page_text=True)


def accidental_words(tree: ast.Module) -> int:
    """The line of a word that a page shows around its code and that Python reads as a name, such as
    ``Reply`` or ``train.py``; 0 for none. It would raise a NameError."""
    names = PROVIDED | {name for node in ast.walk(tree) for name in bound_names(node)}
    around = _words_around(tree.body, names)
    return tree.body[around[0]].lineno if around else 0


def _around(statements: Sequence[PastedStatement], names: frozenset[str]) -> list[PastedStatement]:
    nodes = [None if statement.indent else statement.node for statement in statements]
    return [statements[index] for index in _words_around(nodes, names)]


def _words_around(nodes: Sequence[ast.stmt | None], names: frozenset[str]) -> list[int]:
    """The places of statements before and after all code that are only words, as far as no name of
    the code may be meant; nothing if all statements are, or if names are bound unseen."""

    def are_words(node: ast.stmt | None) -> bool:
        return _reads_as_words(node, names) and not any(
            difflib.get_close_matches(part.id, names, n=1, cutoff=0.75)
            for part in ast.walk(node or ast.Pass())
            if isinstance(part, ast.Name)
        )

    if "*" in names:
        return []
    places = range(len(nodes))
    before = [*takewhile(lambda at: are_words(nodes[at]), places)]
    after = [*takewhile(lambda at: are_words(nodes[at]), reversed(places))]
    return [] if len(before) == len(nodes) else [*before, *reversed(after)]


def _is_numbered(text: str, mentioned: frozenset[str]) -> bool:
    """Whether a statement that does not parse begins with a word and a number, where the code has
    no such name."""
    found = _NUMBERED.match(text)
    if found is None or found[1] in mentioned or keyword.iskeyword(found[1]):
        return False
    return mistyped_keyword(found[1]) is None and found[1] not in _BUILTINS


def _speaks_of_formula(page: Page, statement: PastedStatement, mentioned: frozenset[str]) -> bool:
    """Whether a line is a formula and what is said of it: ``H = diag(2, 2) is what I expect``.

    The formula calls a function that no other line of the page names. Otherwise the line may be
    code with a remark that lacks its ``#``, which others need."""
    text = statement.text
    if "*" in mentioned or "\n" in text:
        return False
    for space in re.finditer(r"(?<=[)\]]) (?=[A-Za-z])", text):
        formula, said = parse(text[: space.start()]), text[space.end() :]
        if not isinstance(formula, SyntaxFailure):
            called = {dotted(node.func) for node in ast.walk(formula) if isinstance(node, ast.Call)}
            is_unknown = any(
                sum(name in line for line in page.lines) == 1
                for name in called - mentioned - _BUILTINS
                if name.isalpha()
            )
            return is_unknown and plain_pairs(said.replace(",", " ")) > 1
    return False


def _is_version(text: str, names: frozenset[str]) -> bool:
    found = _VERSION.fullmatch(text.strip())
    return found is not None and found[1] not in names


def _is_number(statement: PastedStatement) -> bool:
    """Whether a statement at the margin is only a number or ``None``: votes, a page's number, what
    was printed."""
    match statement.node:
        case ast.Expr(
            value=ast.Constant(value=value) | ast.UnaryOp(operand=ast.Constant(value=value))
        ):
            return not statement.indent and (value is None or isinstance(value, (int, float)))
    return False


def _outside_brackets(statements: Iterable[PastedStatement]) -> Iterator[PastedStatement]:
    """Statements that do not parse, without those inside a bracket that another left open."""
    left: Open = CLOSED
    next_line = -1
    for statement in statements:
        is_next = statement.first == next_line and not _FOREIGN_START.match(statement.text)
        goes_on = is_next and left.brackets
        next_line = statement.last + 1
        if goes_on:
            left = scan(statement.text, left).after
        elif statement.tree is None:
            yield statement
            is_code = CODE_START.match(statement.text) is not None
            left = scan(statement.text).after if is_code else CLOSED
        else:
            left = CLOSED


def _paragraphs(
    page: Page, statements: Sequence[PastedStatement], names: frozenset[str]
) -> Iterator[PastedStatement]:
    """The statements of paragraphs in which none parses, begins like code or has a name of the code
    (``and then``, ``== Example ==``); nothing if no statement of the page parses."""
    if not any(statement.tree for statement in statements):
        return
    paragraphs: list[list[PastedStatement]] = []
    last = -1
    for statement in statements:
        is_next = paragraphs and not any(
            not line.strip() for line in page.lines[last + 1 : statement.first]
        )
        if not is_next:
            paragraphs.append([])
        paragraphs[-1].append(statement)
        last = statement.last
    for paragraph in paragraphs:
        may_be_code = (_may_be_code(page, statement, names) for statement in paragraph)
        if not (_has_body(page, paragraph[-1]) or any(may_be_code)):
            yield from paragraph


def _between_sentences(
    statements: Sequence[PastedStatement], sentences: Sequence[PastedStatement]
) -> list[PastedStatement]:
    """The lines that begin with a keyword and continue a sentence of the line above, which goes on
    in the line below: a page puts ``tf.Tensor`` of a sentence on a line of its own."""
    lines = {statement.first for statement in sentences}
    return [
        statement
        for statement in statements
        if statement.tree is None
        and {statement.first - 1, statement.last + 1} <= lines
        and _KEYWORD_AND_NAMES.fullmatch(statement.text)
    ]


def _has_body(page: Page, statement: PastedStatement) -> bool:
    """Whether the next line with code is indented."""
    after = (page.lines[number] for number in range(statement.last + 1, len(page.lines)))
    return bool(indent_of(next((line for line in after if line.strip()), "")))


def _begins_with_keyword(page: Page, statement: PastedStatement, names: frozenset[str]) -> bool:
    """Whether a line at the margin is a sentence that begins with a keyword (``with this code:``).

    It has words alone, none a name of the code, and no body below; two of its words stand side by
    side, as names never do in code, or its only word is one that begins sentences.
    """
    text = statement.text.strip()
    if statement.indent or not _KEYWORD_AND_WORDS.fullmatch(text) or _has_body(page, statement):
        return False
    words = re.findall(r"[A-Za-z'-]+", text)[1:]
    if any(_is_of_code(word, names) for word in words):
        return False
    are_keywords = [keyword.iskeyword(word) for word in words]
    has_pair = any(not (first or second) for first, second in pairwise(are_keywords))
    return has_pair or (len(words) == 1 and (opens_sentence(words[0]) or words[0] == "example"))


def _is_of_code(word: str, names: frozenset[str]) -> bool:
    """Whether a word is a name of the code or a builtin, or a keyword that was misspelt."""
    if word in names or word in ("True", "False", "None") or mistyped_keyword(word):
        return True
    return word in _BUILTINS and not opens_sentence(word)


def _may_be_code(page: Page, statement: PastedStatement, names: frozenset[str]) -> bool:
    text = statement.text
    if statement.tree is not None or statement.indent:
        return True
    if CODE_START.match(text) and not _begins_with_keyword(page, statement, names):
        return True
    words = re.findall(r"[^\W\d]\w*", statement.text)
    return any(word in names or mistyped_keyword(word) for word in words)


def _is_stray_sign(pasted: str) -> bool:
    """Whether a line is only foreign signs and numbers, such as ``。`` or ``↑ 3 ↓``."""
    text = pasted.strip()
    return bool(text) and not text.isascii() and not re.search(r"[^\W\d]", text)


def _reads_as_words(node: ast.stmt | None, known: frozenset[str]) -> bool:
    """Whether a statement that parses mentions none of the ``known`` names, and one that no builtin
    has: ``so``, ``- 用法``, ``Gradient is None, help``."""
    match node:
        case ast.Expr(value=value):
            parts = list(ast.walk(value))
        case ast.AnnAssign(target=ast.Name() as target, annotation=note, value=None):
            is_label = note.col_offset - (target.end_col_offset or 0) == 1  # as in a label, ``a:b``
            parts = [*([] if is_label else [target]), *ast.walk(note)]
        case _:
            return False
    if any(isinstance(part, ast.Name) and mistyped_keyword(part.id) for part in parts):
        return False
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if any(not name.isascii() and name not in known for name in names):
        return True
    if known.intersection(names) or _BUILTINS.issuperset(names):
        return False
    dotted = (ast.Name, ast.Attribute, ast.Load, ast.Sub, ast.Div, ast.USub, ast.UnaryOp)
    if all(isinstance(part, dotted) or _is_hyphenated(part) for part in parts):
        return True
    words = (ast.Name, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple, ast.Load, ast.Store)
    signs = (ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Not, ast.boolop, ast.USub)
    return all(name.isalpha() for name in names) and all(
        isinstance(part, (*words, *signs))
        or (isinstance(part, ast.Constant) and (part.value is None or part.value is True))
        for part in parts
    )


def _is_hyphenated(node: ast.AST) -> bool:
    """Whether a node is of two words with a single sign between them: ``Fine-tuning``."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Sub, ast.Div))
        and node.left.end_lineno == node.right.lineno
        and node.left.end_col_offset is not None
        and node.right.col_offset - node.left.end_col_offset == 1
    )


def _formulas(page: Page, statements: Sequence[PastedStatement]) -> Iterator[PastedStatement]:
    """Lines such as ``      = 0.5 * grads`` that continue a formula below its ``=``."""
    sign, last = -1, -1
    for statement in statements:
        goes_on = statement.first == last + 1 and statement.indent == sign
        line = page.lines[statement.first]
        last = statement.last
        if goes_on and statement.tree is None and _CONTINUES_FORMULA.match(line):
            yield statement
        else:
            sign = line.find("=")
