"""Repair pasted text line for line; the table of passes."""

from __future__ import annotations

from .blocks import blocks_of, has_code, leave_out_undefined, leave_out_unreadable
from .page import Page, Pass, Repaired, Skipped, prose_lines
from .parsing import TOO_DEEP, SyntaxFailure, compile_failure, parse
from .passes.characters import decode_entities, drop_invisible, plain_spaces, strip_after_backslash
from .passes.debris import (
    apply_diffs,
    drop_fences,
    drop_leftovers,
    drop_pytest_marks,
    drop_quote_marks,
    drop_tags,
    switch_off_commands,
)
from .passes.levels import restore_indentation
from .passes.line_numbers import drop_line_numbers
from .passes.output import accidental_output, set_aside_output, set_aside_tracebacks
from .passes.prompts import accidental_prompt, drop_prompts
from .passes.prose import accidental_words, set_aside_prose
from .passes.punctuation import plain_punctuation
from .passes.tabs import expand_tabs
from .problems import find_problem

# Remove what no Python text has; applied to every text that does not parse.
CLEANING: tuple[Pass, ...] = (
    drop_invisible,
    plain_spaces,
    drop_tags,
    decode_entities,
    drop_pytest_marks,
    drop_quote_marks,
    apply_diffs,
    drop_fences,
    drop_line_numbers,
    set_aside_tracebacks,
    drop_prompts,
    drop_leftovers,
    switch_off_commands,
    set_aside_output,
    plain_punctuation,
    strip_after_backslash,
)
INDENTING: tuple[Pass, ...] = (expand_tabs, restore_indentation)
# Make guesses; each is applied only while the text still does not parse.
RESTORING: tuple[Pass, ...] = (set_aside_prose, *INDENTING)
PASSES = (*CLEANING, *RESTORING)


def repair(text: str) -> Repaired:
    """Repair what a web page, a notebook or a session did to code.

    A text that parses is returned as it is, except for what parses by accident: prompts
    (``In [3]:``), printed objects (``array([1.])``), words around the code (``Reply``). The passes
    run in order. If the text does not parse then and has several blocks of code, each block is
    repaired by itself, and parts that do not parse are left out; so are parts that would raise a
    NameError. If all that fails, the pasted text is returned with the problem that is left.
    """
    page = Page.of(text)
    failure = _failure(page)
    before_restoring = page
    if failure and failure.message == TOO_DEEP and compile_failure(text) is None:
        return Repaired(text)
    if failure:
        for apply in PASSES:
            if failure is None and apply in RESTORING:
                break
            page, failure = _after(apply, page, failure)
            if apply not in INDENTING:
                before_restoring = page
    failure = failure or compile_failure(page.text)
    blocks = blocks_of(before_restoring)
    skipped: list[Skipped] = []
    if failure and len(blocks) > 1:
        whole, skipped = leave_out_unreadable(before_restoring, blocks, INDENTING)
        if has_code(whole) and not (_failure(whole) or compile_failure(whole.text)):
            page, failure = whole, None
    if failure:
        return Repaired(text, error=find_problem(page, failure))
    if len(blocks) > 1:
        page, undefined = leave_out_undefined(page, blocks)
        skipped = [part for part in skipped if not any(map(part.is_within, undefined))]
        skipped = sorted([*skipped, *undefined], key=lambda part: part.line)
    prose = prose_lines(text, page.text, skipped)
    return Repaired(page.text, page.repairs, None, tuple(skipped), len(blocks) or 1, prose)


def _after(
    repair_pass: Pass, page: Page, failure: SyntaxFailure | None
) -> tuple[Page, SyntaxFailure | None]:
    """The page after a pass, and why it does not parse yet."""
    mended = page.apply(repair_pass(page))
    if mended.lines == page.lines:
        return page, failure
    left = _failure(mended)
    # A pass must not spoil a text that parses.
    return (page, None) if left and failure is None else (mended, left)


def _failure(page: Page) -> SyntaxFailure | None:
    tree = parse(page.text)
    if isinstance(tree, SyntaxFailure):
        return tree
    line = accidental_prompt(tree) or accidental_output(tree) or accidental_words(tree)
    return SyntaxFailure(line, 1, "invalid syntax") if line else None
