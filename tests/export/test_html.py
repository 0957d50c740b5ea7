"""The page to share: read by a parser, and driven in a browser where one is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tapeviz.analysis.backward.turns import find_turns
from tapeviz.analysis.diagnose import diagnose
from tapeviz.analysis.findings import Fix
from tapeviz.analysis.model import Diagnosis, ExplainedError
from tapeviz.export import Options, render, write_shared_page
from tapeviz.export.html import write_page
from tapeviz.export.shared_page import PageRound, SharedPage
from tapeviz.layout.model import Rect
from tapeviz.recording.kept import KeptRecording
from tapeviz.repair.page import PAGE_MARK
from tapeviz.scene.theme import THEMES
from tapeviz.sharing.answer import answer, answer_html, code_marked
from tapeviz.sharing.cards import cards
from tapeviz.sharing.page import evenly, make_page, page_lines
from tapeviz.trace.model import Trace
from tapeviz.trace.stored.file import load
from tapeviz.view import DEFAULT_VIEW
from tests.evidence import saying
from tests.export.drawn import drawing

RECORDINGS = Path(__file__).parents[1] / "recordings"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = "</script><script>document.title='owned'</script><!--"


class Page(HTMLParser):
    """The elements of a page and the text in each."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[str] = []
        self.text = text
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.elements.append((tag, about))
        if tag not in ("meta", "input", "path"):
            self._open.append(about.get("id") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "input", "path"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.elements)

    @property
    def drawn(self) -> str:
        """What the picture holds before a script runs."""
        (drawn,) = re.findall(r'<g id="drawn">(.*)</g></svg>', self.text, re.DOTALL)
        return str(drawn)

    @property
    def data(self) -> Any:
        return json.loads(self.texts["data"])


def traced(name: str) -> tuple[Trace, Diagnosis]:
    trace = KeptRecording(load(RECORDINGS / f"{name}.tape")).wait()
    return trace, diagnose(trace)


def page_of(
    trace: Trace, diagnosis: Diagnosis, theme: str = "light", step: int | None = None
) -> str:
    overlay = replace(DEFAULT_VIEW.overlay, step=step)
    made = make_page(trace, diagnosis, replace(DEFAULT_VIEW, overlay=overlay))
    return write_page(made, THEMES[theme], Options()).decode()


def with_fix(diagnosis: Diagnosis) -> Diagnosis:
    fix = Fix("Read <it>", " x = 1\n-y = `a`\n+y = ```b```\n", "y")
    (call,) = diagnosis.calls
    (finding,) = call.findings
    return replace(diagnosis, calls=(replace(call, findings=(replace(finding, fixes=(fix,)),)),))


def test_a_page_has_source_picture_diagnosis_and_steps() -> None:
    trace, diagnosis = traced("slice_assign")
    page = Page(page_of(trace, with_fix(diagnosis)))
    lines = {
        about["id"]: (about.get("class") or "").split()
        for tag, about in page.elements
        if tag == "div" and re.fullmatch(r"L\d+", about.get("id") or "")
    }
    assert len(lines) == len(trace.source.rstrip("\n").split("\n"))
    cause = diagnosis.calls[0].findings[0].cause
    assert cause is not None
    assert "cut" in lines[f"L{cause.line}"]
    assert "call" in lines[f"L{diagnosis.calls[0].call.line}"]
    marks = [mark for marks in lines.values() for mark in marks]
    assert {"source", "target"} <= set(marks)
    assert diagnosis.calls[0].findings[0].message.split(".")[0] in page.texts["cards"]
    assert "y = ```b```" in page.texts["cards"]
    (only,) = page.data["rounds"]
    steps = diagnosis.calls[0].steps
    assert [step["op"] for step in only["steps"]] == [step.title for step in steps]
    assert [frame["step"] for frame in only["frames"]] == [None, *range(1, len(steps) + 1)]
    assert {tag for tag, _ in page.elements} >= {"svg", "button", "table", "article"}
    assert page.count("input") == 0  # one round needs no slider


def looped(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis, as if its call had gone back through seven turns of a loop."""
    (call,) = diagnosis.calls
    steps = call.steps[:-1] * 7
    walked = call.backward_pass()._replace(steps=steps, turns=find_turns(steps))
    return replace(diagnosis, calls=(replace(call, backward_pass=lambda: walked),))


def test_turns_of_a_loop_have_a_row_each_and_most_are_left_out() -> None:
    trace, diagnosis = traced("slice_assign")
    (only,) = Page(page_of(trace, looped(diagnosis))).data["rounds"]
    folds = only["folds"]
    assert [fold["cells"][0] for fold in folds] == [
        *(f"turn {number} of 7" for number in (7, 6, 5)),
        "… 3 turns",
        "turn 1 of 7",
    ]
    assert [len(fold["folds"]) for fold in folds] == [0, 0, 0, 3, 0]
    assert [fold["cells"][2] for fold in folds[3]["folds"]] == ["4 steps"] * 3
    assert (folds[3]["first"], folds[3]["last"], len(only["steps"])) == (12, 23, 28)


def test_a_page_names_the_file_and_not_its_folder() -> None:
    trace, diagnosis = traced("slice_assign")
    page = page_of(replace(trace, filename="/home/somebody/slice_assign.py"), diagnosis)
    assert "<title>slice_assign.py</title>" in page
    assert "somebody" not in page


def test_sources_with_one_story_share_a_card() -> None:
    trace, diagnosis = traced("slice_assign")
    (call,) = diagnosis.calls
    (finding,) = call.findings
    findings = tuple(replace(saying(finding, "A cut."), source=f"w{n}") for n in range(10))
    shared = cards(trace, replace(diagnosis, calls=(replace(call, findings=findings),)))
    (card,) = (card for card in shared if card.status == "none")
    assert card.title.endswith("10 sources")
    assert card.words[-1] == "The same holds for the other 9."
    assert [row[0] for row in card.tables[0].rows] == [f"w{n}" for n in range(8)]
    assert card.tables[0].note == "and 2 more"


def test_sources_without_a_number_are_named_alone() -> None:
    trace, diagnosis = traced("slice_assign")
    (call,) = diagnosis.calls
    (finding,) = call.findings
    fix = Fix("Estimate: pass it on", "-a\n+b\n", "b", is_estimate=True)
    silent = replace(saying(finding, "A cut."), tensor=None, bridged=None, bridged_value=None)
    findings = tuple(replace(silent, source=f"w{n}", fixes=(fix,)) for n in range(2))
    shown = replace(call, findings=findings)
    text = answer(trace, replace(diagnosis, calls=(shown,)), shown)
    assert "Sources:\n\n```\nw0\nw1\n```" in text
    assert "Estimate: pass it on:" in text


def test_trouble_comes_first() -> None:
    trace, diagnosis = traced("slice_assign")
    (call,) = diagnosis.calls
    (none,) = call.findings
    fine = replace(none, source="w", status="flows", cause=None)
    call = replace(call, findings=(fine, none))
    made = cards(trace, replace(diagnosis, calls=(call,), warnings=()))
    assert [card.status for card in made] == ["none", "flows"]


def test_a_page_asks_for_nothing() -> None:
    text = page_of(*traced("training_loop"))
    addresses = set(re.findall(r"https?://[^\"'\s<\\]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)\b|@import|url\(", text)


def test_rounds_have_a_slider_and_steps_of_their_own() -> None:
    trace, diagnosis = traced("training_loop")
    page = Page(page_of(trace, diagnosis))
    rounds = page.data["rounds"]
    assert [round_["words"].split(" · ")[-1] for round_ in rounds] == [
        f"round {number} of 5" for number in range(1, 6)
    ]
    assert all(len(round_["frames"]) == len(round_["steps"]) + 1 for round_ in rounds)
    assert page.count("input") == 1
    values = {json.dumps(round_["steps"]) for round_ in rounds}
    assert len(values) == 5, "each round has its own numbers"
    for card in cards(trace, diagnosis):
        assert card.tables[0].heading.endswith(" · round 5"), "cards do not turn with the slider"


def test_a_round_of_another_size_fills_the_view() -> None:
    """Rounds of nearly the same size share a view, so that nothing moves between them."""
    scene = drawing().scene
    small, near, wide = (
        PageRound("", (), ((None, replace(scene, bounds=Rect(x, 100.0, 2 * x, 200.0))),))
        for x in (200.0, 210.0, 900.0)
    )
    page = SharedPage("", (), (), (), (small, near, wide))
    data = Page(write_page(page, THEMES["light"], Options()).decode()).data
    views = [round_["view"] for round_ in data["rounds"]]
    assert views[0] == views[1]
    assert views[2][2] > 2 * views[0][2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_are_in_a_page(theme: str) -> None:
    text = page_of(*traced("slice_assign"), theme)
    assert f'<html lang="en" class="{theme}">' in text
    for other in THEMES.values():
        assert f"--trouble:{other.trouble};" in text
        assert other.variable_fill in text.partition("</style>")[0].rpartition(":root")[2]


def test_nothing_of_a_snippet_becomes_markup(tmp_path: Path) -> None:
    trace, diagnosis = traced("slice_assign")
    source = trace.source.replace('"""A slice', f'"""{HOSTILE} <b>A slice')
    names = dict.fromkeys(trace.names, (HOSTILE,))
    trace = replace(trace, source=source, names=names, filename=f"{HOSTILE}.py")
    fix = Fix(HOSTILE, f"+{HOSTILE}\n", HOSTILE)
    diagnosis = replace(
        diagnosis, errors=(ExplainedError(HOSTILE, HOSTILE, 1, HOSTILE, fixes=(fix,)),)
    )
    path = tmp_path / "hostile.html"
    write_shared_page(make_page(trace, diagnosis, DEFAULT_VIEW), path, THEMES["light"])
    page = Page(path.read_text(encoding="utf-8"))
    assert page.count("script") == 2
    assert page.count("b") == 0
    assert HOSTILE in page.texts["lines"]
    assert HOSTILE in page.texts["cards"]
    assert "<script" not in "".join(re.sub(r"&lt;|\\u003c", "", g) for g in page.data["groups"])


def test_a_picture_alone_can_be_moved_and_has_no_steps() -> None:
    page = Page(render(drawing(), "html").decode())
    assert page.data["alone"]
    assert page.count("button") == 0
    assert page.count("svg") == 1


@pytest.mark.parametrize(
    ("count", "most", "numbers"),
    [(0, 5, []), (3, 3, [1, 2, 3]), (9, 3, [1, 5, 9]), (9, 1, []), (9, 0, [])],
)
def test_frames_lie_evenly(count: int, most: int, numbers: list[int]) -> None:
    assert evenly(count, most) == numbers


DRIVE = """<script>
const key = (name, more = {}) =>
  dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, ...more}));
const told = [];
const tell = () => told.push([document.getElementById("place").textContent,
  document.querySelectorAll("#rows .now").length,
  (document.querySelector("#lines .now") || {}).id || "",
  document.getElementById("drawn").innerHTML.length]);
tell();
key("ArrowRight"); tell();
key("End"); tell();
document.getElementById("back").click(); tell();
document.querySelector("#rows tr").click(); tell();
key("ArrowLeft"); tell();
key("Escape"); tell();
const before = document.querySelector("#picture svg").viewBox.baseVal.width;
key("+");
const zoomed = document.querySelector("#picture svg").viewBox.baseVal.width;
key("0");
document.getElementById("theme").click();
const slider = document.getElementById("round");
if (slider) { key("PageUp"); }
document.body.setAttribute("data-told", JSON.stringify({told, zoomed: zoomed < before,
  dark: document.documentElement.className, title: document.getElementById("title").textContent,
  cells: document.querySelectorAll("#rows td").length}));
</script></body>"""


def driven(tmp_path: Path, text: str) -> Any:
    """The content of the page while its keys and buttons were pressed in headless Chromium."""
    file = tmp_path / "page.html"
    file.write_text(text.replace("</body>", DRIVE), encoding="utf-8")
    assert CHROMIUM is not None
    dumped = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    ).stdout
    (body,) = (about for tag, about in Page(dumped).elements if tag == "body")
    return json.loads(body["data-told"] or "")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_keys_and_buttons_step_through_the_pass_in_a_browser(tmp_path: Path) -> None:
    trace, diagnosis = traced("slice_assign")
    seen = driven(tmp_path, page_of(trace, diagnosis))
    lines = [f"L{step.line}" for step in diagnosis.calls[0].steps]
    assert [shown[:3] for shown in seen["told"]] == [
        ["whole flow, 5 steps", 0, ""],
        ["step 1 of 5", 1, lines[0]],
        ["step 5 of 5", 1, lines[4]],
        ["step 4 of 5", 1, lines[3]],
        ["step 1 of 5", 1, lines[0]],
        ["step 1 of 5", 1, lines[0]],
        ["whole flow, 5 steps", 0, ""],
    ]
    assert len({shown[3] for shown in seen["told"]}) > 2, "the picture changes with the step"
    assert seen["zoomed"]
    assert seen["dark"] == "light dark"
    assert seen["cells"] == 30


def test_a_page_opens_at_the_step_that_was_shown() -> None:
    trace, diagnosis = traced("slice_assign")
    whole = Page(page_of(trace, diagnosis))
    page = Page(page_of(trace, diagnosis, step=3))
    (only,) = page.data["rounds"]
    assert (whole.data["step"], page.data["step"]) == (None, 3)
    assert page.drawn == "".join(page.data["groups"][n] for n in only["frames"][3]["groups"])
    assert page.drawn != whole.drawn, "without a script, too"


def test_the_step_at_which_a_page_opens_has_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeviz.sharing.page.MOST_FRAMES", 2)
    (only,) = Page(page_of(*traced("slice_assign"), step=3)).data["rounds"]
    assert [frame["step"] for frame in only["frames"]] == [None, 3]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_the_browser_shows_the_step_at_which_a_page_opens(tmp_path: Path) -> None:
    trace, diagnosis = traced("slice_assign")
    seen = driven(tmp_path, page_of(trace, looped(diagnosis), step=3))
    assert seen["told"][0][:2] == ["step 3 of 28", 1]
    assert seen["told"][-1][0] == "whole flow, 28 steps", "Escape"
    assert seen["cells"] == 6 * (5 + 4), "a click on the first turn opened it"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_rounds_turn_in_a_browser(tmp_path: Path) -> None:
    assert driven(tmp_path, page_of(*traced("training_loop")))["title"].endswith("round 4 of 5")


# The answer to paste


def test_an_answer_has_cause_marked_code_values_and_diff() -> None:
    trace, diagnosis = traced("slice_assign")
    diagnosis = with_fix(diagnosis)
    call = diagnosis.calls[0]
    text = answer(trace, diagnosis, call)
    cause = call.findings[0].cause
    assert cause is not None
    marked = code_marked(trace, diagnosis, call).split("\n")
    assert len(marked) == len(trace.source.rstrip("\n").split("\n"))
    assert marked[cause.line - 1].endswith("# ✂ the gradient is cut here")
    assert marked[call.call.line - 1].endswith("# → None")
    assert "**∂mean / ∂patch** is **None**" in text
    assert "1.0, 2.0" in text, "the gradient across the cut"
    assert "````diff\n x = 1\n-y = `a`\n+y = ```b```\n````" in text
    assert "Read \\<it\\>" in text
    rich = answer_html(text + "<i>", b"png")
    assert rich.startswith('<p><img alt="The op graph" src="data:image/png;base64,cG5n">')
    assert "&lt;i&gt;" in rich


def test_prose_of_a_page_is_a_comment_in_the_code_of_an_answer() -> None:
    trace, diagnosis = traced("slice_assign")
    trace = replace(trace, source=f"{PAGE_MARK} It is None. Why?\n{trace.source}")
    first, second, *_ = code_marked(trace, diagnosis, None).split("\n")
    assert first == "# It is None. Why?"
    assert second == trace.source.split("\n")[1]


def test_an_answer_about_an_error_says_it() -> None:
    trace, diagnosis = traced("slice_assign")
    error = ExplainedError("ValueError", "no <such> thing", 3, "It is so.")
    text = answer(trace, replace(diagnosis, errors=(error,)), diagnosis.calls[0])
    assert text.startswith("**ValueError** is **error** (line 3).\n\nIt is so.\n\n")
    assert "# ✕ this line raised" in text


def test_page_text_stands_in_it_as_it_was_pasted() -> None:
    trace, diagnosis = traced("training_loop")
    first, second, *_ = page_lines(replace(trace, source="#¶ Why?\nx = 1\n"), diagnosis, None)
    assert "".join(text for _, text in first.pieces) == "Why?"
    assert "".join(text for _, text in second.pieces) == "x = 1"
