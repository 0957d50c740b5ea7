"""Pasted text in, text that Python can read out, line for line: the passes, in their order."""

from __future__ import annotations

from tapeviz.repair.characters import (
    decode_entities,
    drop_invisible,
    plain_spaces,
    strip_after_backslash,
)
from tapeviz.repair.debris import (
    drop_fences,
    drop_leftovers,
    drop_quote_marks,
    switch_off_commands,
)
from tapeviz.repair.levels import restore_indentation
from tapeviz.repair.line_numbers import drop_line_numbers
from tapeviz.repair.output import set_aside_output, set_aside_tracebacks
from tapeviz.repair.page import Page, Pass, Repaired
from tapeviz.repair.parsing import Failure, compile_failure, parse
from tapeviz.repair.problems import find_problem
from tapeviz.repair.prompts import accidental_prompt, drop_prompts
from tapeviz.repair.prose import set_aside_prose
from tapeviz.repair.punctuation import plain_punctuation
from tapeviz.repair.tabs import expand_tabs

# What no Python text holds: it goes from every text that cannot be read as it is.
CLEANING: tuple[Pass, ...] = (
    drop_invisible,
    plain_spaces,
    decode_entities,
    drop_quote_marks,
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
# What takes a guess: each only while the text still cannot be read.
RESTORING: tuple[Pass, ...] = (
    set_aside_prose,
    expand_tabs,
    restore_indentation,
)
PASSES = (*CLEANING, *RESTORING)


def repair(text: str) -> Repaired:
    """Mend what a web page, a notebook or a session did to code.

    A text that parses comes back as it is (but for ``In [3]:``, which parses by accident). The
    passes run in order; if the text cannot be read after the last one, it comes back as it was
    pasted, with the problem that is left.
    """
    page = Page.of(text)
    failure = _failure(page)
    if failure:
        for one in PASSES:
            if failure is None and one in RESTORING:
                break
            page, failure = _after(one, page, failure)
    failure = failure or compile_failure(page.text)
    if failure:
        return Repaired(text, (), find_problem(page, failure))
    return Repaired(page.text, page.repairs, None)


def _after(one: Pass, page: Page, failure: Failure | None) -> tuple[Page, Failure | None]:
    """The page after a pass, and why it cannot be read yet."""
    mended = page.apply(one(page))
    if mended.lines == page.lines:
        return page, failure
    left = _failure(mended)
    # What could be read already is not to be spoilt.
    return (page, None) if left and failure is None else (mended, left)


def _failure(page: Page) -> Failure | None:
    tree = parse(page.text)
    if isinstance(tree, Failure):
        return tree
    line = accidental_prompt(tree)
    return Failure(line, 1, "invalid syntax") if line else None
