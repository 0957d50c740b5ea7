"""The text that a person reads in a terminal, from recordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tapeviz.analysis import diagnose
from tapeviz.analysis.findings import Fix
from tapeviz.analysis.model import Diagnosis
from tapeviz.cli.text import MOST_LISTED, as_text
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace.model import Trace
from tapeviz.trace.stored.file import load

RECORDINGS = Path(__file__).parents[1] / "recordings"


def test_sources_with_one_story_are_told_once() -> None:
    trace = KeptRecording(load(RECORDINGS / "stop_gradient.tape")).wait()
    diagnosis = diagnose(trace)
    (call,) = diagnosis.calls
    finding = next(each for each in call.findings if each.status == "none")
    names = [f"w{number}" for number in range(8)]
    findings = tuple(replace(finding, source=name) for name in names)
    text = as_text(trace, replace(diagnosis, calls=(replace(call, findings=findings),)))
    assert "8 sources: None   (line" in text
    assert ", ".join(names) in text
    assert text.count("The same holds for the other 7.") == 1
    assert text.count(f"line {finding.cause.line}: ") == 1  # type: ignore[union-attr]


def test_the_numbers_of_many_gradients_have_a_line_each() -> None:
    trace = KeptRecording(load(RECORDINGS / "mlp_step.tape")).wait()
    diagnosis = diagnose(trace)
    (call,) = diagnosis.calls
    copies = (call.findings * 2)[: MOST_LISTED + 1]
    many = tuple(replace(each, source=f"w{place}") for place, each in enumerate(copies))
    text = as_text(trace, replace(diagnosis, calls=(replace(call, findings=many),)))
    lines = text.split("\n\n")[0].splitlines()
    assert lines[0].startswith(f"∂loss · {len(many)} sources: flows   (line")
    assert len(lines) == 1 + len(many)
    assert lines[1].split() == ["w0", "norm", "0.3212,", "[3,", "4]"]
    assert lines[2].split()[0] == "w1"


def test_a_line_of_a_diff_with_a_form_feed_stays_one_line() -> None:
    trace = KeptRecording(load(RECORDINGS / "stop_gradient.tape")).wait()
    diagnosis = diagnose(trace)
    (call,) = diagnosis.calls
    finding = next(each for each in call.findings if each.status == "none")
    mended = replace(finding, fixes=(Fix("a fix", "-y = 1\x0c\n+y = 2", ""),))
    text = as_text(trace, replace(diagnosis, calls=(replace(call, findings=(mended,)),)))
    assert "\n    -y = 1\x0c\n    +y = 2" in text


def test_a_text_without_code_is_told_from_one_that_asks_for_no_gradient() -> None:
    assert "no line of Python code" in as_text(Trace(source="# a\n#¶ b\n"), Diagnosis())
    said = as_text(Trace(source="print(1)\n"), Diagnosis())
    assert said.strip().startswith("No gradient was asked for: the snippet calls neither")
