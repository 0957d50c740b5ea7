"""The oracle: a snippet scarred and repaired means what it meant before (same syntax tree)."""

from __future__ import annotations

import ast

import pytest
import snippets
from snippets import ALL, Scar

from tapeviz.repair import repair

SCARS: tuple[Scar, ...] = (
    snippets.prompted,
    snippets.notebook_prompted,
    snippets.numbered,
    snippets.numbered_in_frame,
    snippets.as_diff,
    snippets.in_diff_fence,
    snippets.numbered_ragged,
    snippets.numbered_from_98,
    snippets.fenced,
    snippets.hard_spaces,
    snippets.ideographic_margins,
    snippets.escaped,
    snippets.with_buttons,
    snippets.indented,
    snippets.first_line_flush,
    snippets.in_sentences,
    snippets.zero_width,
)
ON_STRINGS = {
    snippets.indented,
    snippets.first_line_flush,
    snippets.ideographic_margins,
    snippets.hard_spaces,
    snippets.zero_width,
    snippets.escaped,
    snippets.as_diff,
    snippets.in_diff_fence,
}
FLUSH = [name for name in ALL if name != "texts"]
NO_PARAGRAPHS = [name for name in FLUSH if name != "training"]


def tree(code: str) -> str:
    return ast.dump(ast.parse(code))


def check(code: str, scarred: str) -> None:
    found = repair(scarred)
    assert found.error is None, found.error
    assert tree(found.text) == tree(code), found.text
    assert len(found.text.split("\n")) == len(scarred.split("\n"))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("scar", SCARS, ids=lambda scar: scar.__name__)
def test_a_scar_is_mended(name: str, scar: Scar) -> None:
    if name == "texts" and scar in ON_STRINGS:
        pytest.skip("the scar changes the strings of this one")
    check(ALL[name], scar(ALL[name]))


@pytest.mark.parametrize("name", FLUSH)
def test_lost_indentation_is_found_again(name: str) -> None:
    check(ALL[name], snippets.flush_left(ALL[name]))


@pytest.mark.parametrize("name", NO_PARAGRAPHS)
def test_lost_indentation_is_found_again_without_blank_lines(name: str) -> None:
    check(ALL[name], snippets.without_blank_lines(snippets.flush_left(ALL[name])))


@pytest.mark.parametrize("name", FLUSH)
def test_lost_indentation_with_a_blank_line_after_every_line(name: str) -> None:
    check(ALL[name], snippets.flush_left(ALL[name]).replace("\n", "\n\n"))


@pytest.mark.parametrize("scar", [snippets.curly, snippets.full_width], ids=["curly", "full width"])
@pytest.mark.parametrize("name", FLUSH)
def test_typographic_signs_are_mended(name: str, scar: Scar) -> None:
    check(ALL[name], scar(ALL[name]))


@pytest.mark.parametrize("name", FLUSH)
@pytest.mark.parametrize(
    "scars",
    [
        (snippets.flush_left, snippets.in_sentences),
        (snippets.flush_left, snippets.curly, snippets.with_buttons),
        (snippets.hard_spaces, snippets.numbered),
        (snippets.escaped, snippets.fenced),
        (snippets.prompted, snippets.escaped),
        (snippets.full_width, snippets.curly, snippets.hard_spaces, snippets.in_sentences),
        (snippets.prompted, snippets.numbered, snippets.fenced),
    ],
    ids=lambda scars: "+".join(scar.__name__ for scar in scars),
)
def test_scars_together_are_mended(name: str, scars: tuple[Scar, ...]) -> None:
    code = ALL[name]
    scarred = code
    for scar in scars:
        scarred = scar(scarred)
    check(code, scarred)


@pytest.mark.parametrize("name", ALL)
def test_whole_code_is_left_alone(name: str) -> None:
    found = repair(ALL[name])
    assert (found.text, found.repairs, found.error) == (ALL[name], (), None)
