from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest

from tapeviz.export import Drawing, render
from tapeviz.scene.model import Heading, Overlay
from tapeviz.scene.text import clean
from tapeviz.scene.theme import THEMES

from .drawn import HOSTILE, drawing, hostile_drawing

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


def parse(made: Drawing, **options: bool) -> ET.Element:
    return ET.fromstring(render(made, "svg", **options))  # type: ignore[arg-type]


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iterfind(".//svg:text", NAMESPACE)]


def groups(root: ET.Element) -> Counter[str]:
    return Counter(element.get("class") or "" for element in root.iterfind("svg:g", NAMESPACE))


def test_one_group_for_each_node_edge_and_cut() -> None:
    root = parse(drawing())
    assert groups(root) == {"title": 1, "edge": 7, "node": 7, "mark": 1, "legend": 1}


def test_titles_subtitles_and_values_are_text() -> None:
    found = texts(parse(drawing()))
    for words in ("patch", "Variable · 2×2", "x[:2,:2] ← patch", "x′", "Transpose", "2709.0"):
        assert words in found
    assert "source · None" in found
    assert "∂o/∂patch · None" in found
    assert {"gradient", "not recorded", "cut"} <= set(found)


def test_it_is_told_to_those_who_cannot_see_it() -> None:
    root = parse(drawing())
    title, description = root.find("svg:title", NAMESPACE), root.find("svg:desc", NAMESPACE)
    assert title is not None
    assert description is not None
    assert title.text == "∂o/∂patch · None"
    assert "7 nodes and 7 edges" in (description.text or "")
    assert "stops between patch and x[:2,:2] ← patch" in (description.text or "")
    tooltips = [element.text or "" for element in root.iterfind("svg:g/svg:title", NAMESPACE)]
    assert any("line 5: x[:2, :2].assign(patch)" in tooltip for tooltip in tooltips)


def test_states_differ_by_more_than_colour() -> None:
    drawn = drawing(overlay=Overlay(show_bridge=True))
    css = re.search(r"<style>(.*)</style>", render(drawn, "svg").decode())
    assert css is not None
    assert re.search(r"path\.wire-bridge\{[^}]*stroke-dasharray", css[1])
    css = re.search(r"<style>(.*)</style>", render(drawing(), "svg").decode())
    assert css is not None
    assert re.search(r"path\.wire-cut\{[^}]*stroke-dasharray", css[1])
    assert not re.search(r"path\.wire-gradient\{[^}]*stroke-dasharray", css[1])


def test_every_class_used_is_defined_for_its_element() -> None:
    text = render(drawing(), "svg").decode()
    css = re.search(r"<style>(.*)</style>", text)
    assert css is not None
    for element, names in re.findall(r'<(path|text) class="([^"]+)"', text):
        for name in names.split():
            assert f"{element}.{name}{{" in css[1] or f".{name}{{font-family" in css[1]


def test_hostile_names_come_out_as_they_are() -> None:
    found = texts(parse(hostile_drawing()))
    for name in HOSTILE:
        assert clean(name) in found
    assert not ET.fromstring(render(hostile_drawing(), "svg")).findall(".//svg:img", NAMESPACE)


@pytest.mark.parametrize("theme", THEMES)
def test_ground_and_options(theme: str) -> None:
    ground = THEMES[theme].background
    opaque, clear = drawing(theme), parse(drawing(theme), transparent=True)
    assert parse(opaque).find(f"svg:rect[@fill='{ground}']", NAMESPACE) is not None
    assert clear.find("svg:rect", NAMESPACE) is None
    named = Heading("a.py", "", 0.0, 0.0, 100.0)
    parts = replace(opaque, scene=replace(opaque.scene, headings=(named,), legend=()))
    assert {"title", "legend"} <= set(groups(parse(opaque)))
    assert {"title", "legend"}.isdisjoint(groups(parse(parts)))


def test_scale_changes_the_size_and_not_the_drawing() -> None:
    plain, large = render(drawing(), "svg"), render(drawing(), "svg", scale=2)
    root, double = ET.fromstring(plain), ET.fromstring(large)
    assert float(double.get("width") or 0) == pytest.approx(
        2 * float(root.get("width") or 0), abs=0.02
    )
    assert root.get("viewBox") == double.get("viewBox")


def test_nothing_reaches_beyond_the_picture() -> None:
    root = parse(drawing(overlay=Overlay(step=4)))
    left, top, width, height = map(float, (root.get("viewBox") or "").split())
    for path in root.iterfind(".//svg:path", NAMESPACE):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d") or "")]
        assert all(left <= x <= left + width for x in numbers[::2])
        assert all(top <= y <= top + height for y in numbers[1::2])


def test_the_same_drawing_gives_the_same_file() -> None:
    assert render(drawing(), "svg") == render(drawing(), "svg")


def test_html_holds_the_picture_and_asks_for_nothing() -> None:
    page = render(hostile_drawing(), "html").decode()
    assert page.count("<svg ") == 1
    assert "&lt;lambda&gt;" in page
    assert "<lambda>" not in page
    assert "<img" not in page
    addresses = set(re.findall(r"https?://[^\"'\s<]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
