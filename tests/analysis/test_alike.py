"""Findings that tell one story are told together, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tapeviz.analysis.alike import reported_in_order, same_words, shared_title
from tapeviz.analysis.findings import Cause, Finding, Fix, Status
from tapeviz.analysis.model import Diagnosis
from tapeviz.analysis.stories import places_alike
from tapeviz.trace.calls import Check
from tapeviz.trace.ids import CallId
from tests.document.sample import make_diagnosis, make_trace
from tests.evidence import Said, saying


def finding(
    source: str, line: int = 3, status: Status = "none", fixes: Sequence[Fix] = ()
) -> Finding:
    cause = (
        Cause(Said(f"Line {line} cuts the link to {{}}."), line, "v.assign(x)")
        if status != "flows"
        else None
    )
    return Finding("loss", source, status, "float32", (2,), None, cause, fixes=tuple(fixes))


def names(findings: Sequence[Finding]) -> list[list[str]]:
    return [[findings[place].source for place in group] for group in places_alike(findings)]


def test_one_cause_is_told_once_where_its_first_source_stands() -> None:
    findings = [finding("a"), finding("b", line=5), finding("c"), finding("d")]
    assert names(findings) == [["a", "c", "d"], ["b"]]


def test_a_kernel_and_its_bias_are_told_together() -> None:
    assert names([finding("kernel"), finding("bias")]) == [["kernel", "bias"]]
    assert shared_title("loss", ["kernel", "bias"]) == "∂loss / ∂kernel, ∂bias"
    assert same_words(["kernel", "bias"]) == "The same holds for bias."
    assert shared_title("loss", list("abc")) == "∂loss · 3 sources"
    assert same_words(list("abc")) == "The same holds for the other 2."


def test_gradients_that_flow_have_their_values_while_they_are_few() -> None:
    few = [finding(name, status="flows") for name in "abcde"]
    assert names(few) == [["a"], ["b"], ["c"], ["d"], ["e"]]
    assert names([*few, finding("f", status="flows")]) == [["a", "b", "c", "d", "e", "f"]]


def test_another_fix_is_another_story() -> None:
    fixed = [Fix("Watch it", "+tape.watch(a)", "")]
    findings = [finding("a", fixes=fixed), finding("b"), finding("c"), finding("d")]
    assert names(findings) == [["a"], ["b", "c", "d"]]


def test_a_gradient_that_finite_differences_contradict_is_told_apart() -> None:
    checks = [Check(1e-7, agrees=True), None, Check(words="a kink"), Check(0.5)]
    findings = [
        replace(finding(name), check=check) for name, check in zip("abcd", checks, strict=True)
    ]
    assert names(findings) == [["a", "b", "c"], ["d"]]


def test_a_source_is_not_looked_for_inside_other_words() -> None:
    """The source ``n`` stands in ``link``, but is not what that word is about."""
    assert names([finding("n"), finding("k"), finding("t")]) == [["n", "k", "t"]]


@pytest.mark.parametrize(
    ("first", "second", "are_alike"),
    [
        ("{0} is cut; so is ({0}).", "{0} is cut; so is ({0}).", True),
        ("{}_scale is cut", "{}_scale is cut", False),
        ("model.{} is cut", "model.{} is cut", False),
        ("{0}{0} and {0}", "{0}{0} and {0}", False),
    ],
)
def test_only_the_name_of_the_source_may_differ(first: str, second: str, are_alike: bool) -> None:
    a = saying(finding("w"), first.format("w"))
    b = saying(finding("v[0]"), second.format("v[0]"))
    c = saying(finding("u"), first.format("u"))
    assert names([a, c]) == ([["w", "u"]] if are_alike else [["w"], ["u"]])
    assert (names([a, b]) == [["w", "v[0]"]]) == are_alike


def test_a_call_that_was_mended_is_told_before_those_in_trouble() -> None:
    (cut,) = make_diagnosis(make_trace()).calls
    flowing = tuple(replace(each, status="flows", cause=None) for each in cut.findings)
    mended = replace(cut, call=replace(cut.call, id=CallId(99)), findings=flowing)
    diagnosis = Diagnosis((cut, mended))
    assert list(reported_in_order(diagnosis)) == [cut, mended]
    assert list(reported_in_order(diagnosis, CallId(99))) == [mended, cut]
