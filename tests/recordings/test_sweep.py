"""Each recording goes through every stage, without TensorFlow: trace to files."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from tapeviz.cli.report import report
from tapeviz.drawing import Arranged, arrange, compose_over, group_paths
from tapeviz.export import WRITERS, Drawing, render, write_animation
from tapeviz.files.examples import examples
from tapeviz.graph.groups.tree import GROUPINGS
from tapeviz.scene.model import Overlay
from tapeviz.scene.theme import THEMES
from tapeviz.trace.stored.file import load, save
from tapeviz.view import DEFAULT_VIEW

from .conftest import FOLDER, RECORDINGS, Read, read
from .invariants import (
    check_diagnosis,
    check_layout,
    check_marks_hide_no_wire,
    check_node_link,
    check_routes_are_clear,
    check_scene,
    check_trace,
)

PAINTED = ("slice_assign", "gradient_penalty", "training_loop")
SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "gif": b"GIF8"}


def test_there_is_a_recording_of_each_example_as_it_is() -> None:
    assert {path.stem for path in RECORDINGS} == {each.name for each in examples()}
    for each in examples():
        assert read(each.name).trace.source == each.text, "make the recordings anew"


def test_they_are_small_and_name_no_machine() -> None:
    assert sum(path.stat().st_size for path in RECORDINGS) < 2_000_000
    for path in RECORDINGS:
        for line in load(path).events:
            assert not any(word in line for word in (b"/home/", b"/root/", b".venv")), path.name


def test_a_recording_is_kept_whole(recording: Read, tmp_path: Path) -> None:
    first = FOLDER / f"{recording.name}.tape"
    again = tmp_path / "again.tape"
    save(load(first), again)
    assert contents(again) == contents(first)


def contents(path: Path) -> dict[str, bytes]:
    """Pythons write other headers around the same bytes."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_trace(recording: Read) -> None:
    check_trace(recording.trace)


def test_diagnosis(recording: Read) -> None:
    check_diagnosis(recording.trace, recording.diagnosis)


def test_report(recording: Read) -> None:
    text = json.dumps(report(recording.trace, recording.diagnosis), allow_nan=False)
    assert len(json.loads(text)["calls"]) == len(recording.diagnosis.calls)


@pytest.mark.parametrize("layout", ["layered", "kamada-kawai"])
def test_layout(recording: Read, layout: str) -> None:
    arranged = arrange(recording.trace, replace(DEFAULT_VIEW, layout=layout))
    assert arranged.graph.nodes
    check_layout(arranged.graph, arranged.layout)
    if layout == "layered":
        check_routes_are_clear(arranged.layout)


def test_folded_to_the_right(recording: Read) -> None:
    """Each grouping, once for those that find the same groups in this recording."""
    done: set[frozenset[str]] = set()
    for grouping in GROUPINGS:
        view = replace(DEFAULT_VIEW, grouping=grouping, direction="right", shows_all=True)
        groups = frozenset(group_paths(recording.trace, view))
        if groups in done:
            continue
        done.add(groups)
        arranged = arrange(recording.trace, view)
        check_layout(arranged.graph, arranged.layout)
        check_routes_are_clear(arranged.layout)
        for diagnosed in recording.diagnosis.calls[-1:]:
            scene = compose_over(arranged, recording.trace, diagnosed, Overlay(show_bridge=True))
            check_scene(arranged.graph, scene)


def test_scenes(recording: Read) -> None:
    """Every call of the recording, at every step, with and without the bridge."""
    arranged = arrange(recording.trace, DEFAULT_VIEW)
    for diagnosed in recording.diagnosis.calls:
        for step in (None, *range(len(diagnosed.steps) + 1)):
            overlay = Overlay(step=step, show_bridge=step is None or step % 2 == 0)
            scene = compose_over(arranged, recording.trace, diagnosed, overlay)
            check_scene(arranged.graph, scene)
            if step is None:
                check_marks_hide_no_wire(scene)


@pytest.mark.parametrize("theme", THEMES)
def test_written(recording: Read, theme: str) -> None:
    arranged = arrange(recording.trace, DEFAULT_VIEW)
    for drawing in _drawings(recording, arranged, theme):
        for suffix in WRITERS:
            if suffix not in SIGNATURES:
                made = render(drawing, suffix)
                assert made
                _check_written(suffix, made, drawing)


@pytest.mark.parametrize("name", PAINTED)
def test_painted(name: str, tmp_path: Path) -> None:
    recording = read(name)
    drawings = list(_drawings(recording, arrange(recording.trace, DEFAULT_VIEW), "dark"))
    for suffix, signature in SIGNATURES.items():
        assert render(drawings[-1], suffix).startswith(signature)
    write_animation(drawings, tmp_path / "steps.gif")
    assert (tmp_path / "steps.gif").read_bytes().startswith(SIGNATURES["gif"])


def _drawings(recording: Read, arranged: Arranged, theme: str) -> Iterator[Drawing]:
    """The whole flow with the bridge, and the beginning, middle and end of the backward pass."""
    shown = recording.diagnosis.call(None)
    last = len(shown.steps) if shown else 0
    for step in (None, 0, last // 2, last):
        overlay = Overlay(step=step, show_bridge=step is None)
        scene = compose_over(arranged, recording.trace, shown, overlay)
        yield Drawing(arranged.graph, arranged.layout, scene, THEMES[theme])


def _check_written(suffix: str, made: bytes, drawing: Drawing) -> None:
    text = made.decode("utf-8", "replace")
    if suffix == "svg":
        words = "".join(ET.fromstring(text).itertext())
        assert all(_first_word(box.title) in words for box in drawing.scene.boxes)
    elif suffix == "json":
        check_node_link(json.loads(text), drawing.graph)
    elif suffix == "graphml":
        graph = nx.read_graphml(io.BytesIO(made), force_multigraph=True)
        assert graph.number_of_nodes() == drawing.graph.number_of_nodes()
        assert graph.number_of_edges() == drawing.graph.number_of_edges()
    elif suffix == "dot":
        assert text.startswith("digraph")
        assert text.count("->") >= drawing.graph.number_of_edges()
    elif suffix == "html":
        assert "<svg" in text
        assert text.rstrip().endswith("</html>")


def _first_word(title: str) -> str:
    """A long title is cut in the drawing; its beginning stands there."""
    return title[:6].split()[0] if title.strip() else ""
