"""Pasted text in, text that Python can read out, line for line: the passes, in their order."""

from __future__ import annotations

from tapeviz.repair.characters import (
    decode_entities,
    drop_invisible,
    plain_spaces,
    strip_after_backslash,
)
from tapeviz.repair.debris import drop_fences, drop_leftovers, switch_off_commands
from tapeviz.repair.levels import restore_indentation
from tapeviz.repair.line_numbers import drop_line_numbers
from tapeviz.repair.output import set_aside_output
from tapeviz.repair.page import Page, Pass, Repaired
from tapeviz.repair.parsing import Failure, compile_failure, parse
from tapeviz.repair.problems import find_problem
from tapeviz.repair.prompts import drop_prompts
from tapeviz.repair.prose import set_aside_prose
from tapeviz.repair.punctuation import plain_punctuation
from tapeviz.repair.tabs import expand_tabs

# What lies on top of the code comes off first; where the code stands is asked last.
PASSES: tuple[Pass, ...] = (
    drop_invisible,
    plain_spaces,
    decode_entities,
    drop_fences,
    drop_line_numbers,
    drop_prompts,
    drop_leftovers,
    switch_off_commands,
    plain_punctuation,
    strip_after_backslash,
    set_aside_output,
    set_aside_prose,
    expand_tabs,
    restore_indentation,
)


def repair(text: str) -> Repaired:
    """Mend what a web page, a notebook or a session did to code.

    A text that parses comes back as it is. The passes run in order until the text parses; if
    it never does, it comes back as it is, too, with the problem that is left.
    """
    tree = parse(text)
    if not isinstance(tree, Failure):
        failure = compile_failure(text)
        return Repaired(text, (), find_problem(Page.of(text), failure) if failure else None)
    page = Page.of(text)
    for one in PASSES:
        mended = page.apply(one(page))
        if mended.lines == page.lines:
            continue
        page = mended
        tree = parse(page.text)
        if not isinstance(tree, Failure):
            break
    left = tree if isinstance(tree, Failure) else compile_failure(page.text)
    if left:
        return Repaired(text, (), find_problem(page, left))
    return Repaired(page.text, page.repairs, None)
