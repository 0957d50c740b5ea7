"""A training loop on the command line: a line for each source, one round in full, a film."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tapeviz.analysis import diagnose
from tapeviz.cli import main
from tapeviz.cli.report import report
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace.stored.file import load

RECORDINGS = Path(__file__).parents[1] / "recordings"
LOOP = str(RECORDINGS / "training_loop.tape")


def explained(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["explain", "--no-fixes", LOOP, *options]) == 0
    return capsys.readouterr().out


def test_a_line_for_each_source_tells_all_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys).splitlines()
    assert lines[0].startswith("line 21, 5 rounds, loss 11.6 → 1.45")
    words = " ".join(lines[1].split())
    assert words == "∂loss / ∂layer.kernel: flows in all 5 -8.02 → -2.01"
    assert lines[2].startswith("∂loss / ∂layer.bias: flows in all 5")
    assert lines[3:] == ["", "(--round N shows one round in full)"]


def test_what_explodes_is_said_below_the_sources(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.analysis.rounds.over_time._COLLAPSE", 0.5)
    words = " ".join(explained(capsys).split())
    assert "‖∂layer.kernel‖ explodes over the rounds: 8.02 in round 1" in words


def test_one_round_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    words = explained(capsys, "--round", "2")
    assert "Round 2 of 5, line 21" in words
    assert words.count("flows   (line 21)") == 2
    second = json.loads(explained(capsys, "--json", "--round", "2"))["calls"]
    whole = json.loads(explained(capsys, "--json"))["calls"]
    assert second == whole[1:2]
    assert len(whole) == 5


def test_a_round_that_did_not_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--no-fixes", LOOP, "--round", "6"]) == 3
    assert "at most 5 times from one place" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", LOOP, "--round", "0"])


def test_json_says_where_a_long_list_was_cut() -> None:
    trace = KeptRecording(load(Path(LOOP))).wait()
    diagnosis = diagnose(trace)
    (site,) = diagnosis.rounds.sites
    many = 3_000
    calls = diagnosis.calls * (many // len(site))
    series = tuple(
        replace(
            source,
            statuses=source.statuses * (many // len(site)),
            norms=source.norms.repeat(many // len(site)),
        )
        for source in site.sources
    )
    ids = site.calls * (many // len(site))
    long = replace(site, calls=ids, places=tuple(range(many)), sources=series, shapes=(0,) * many)
    rounds = replace(diagnosis.rounds, sites=(long,))
    listed = report(trace, replace(diagnosis, calls=calls, rounds=rounds))["calls"]
    assert len(listed) == 70
    assert [entry.get("omitted") for entry in listed] == [None] * 59 + [2_930] + [None] * 10


def test_export_draws_a_round_and_films_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture, film = tmp_path / "loop.svg", tmp_path / "loop.gif"
    assert main(["export", LOOP, "-o", str(picture), "--round", "2"]) == 0
    assert "round 2 of 5" in picture.read_text(encoding="utf-8")
    assert main(["export", LOOP, "-o", str(film), "--rounds", "--scale", "0.3"]) == 0
    assert film.read_bytes().count(b"\x21\xf9\x04") == 5  # graphic control, one for each frame
    assert main(["export", LOOP, "-o", str(picture), "--rounds"]) == 3
    assert "a film (.gif)" in capsys.readouterr().err
    page = tmp_path / "loop.html"
    assert main(["export", LOOP, "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert [f"round {number} of 5" in text for number in range(1, 6)] == [True] * 5
    once = str(RECORDINGS / "slice_assign.tape")
    assert main(["export", once, "-o", str(film), "--rounds"]) == 3
    assert "ran once" in capsys.readouterr().err
