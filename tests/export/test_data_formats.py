from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from io import BytesIO

import networkx as nx
import pytest

from tapeviz.export import Drawing, render
from tapeviz.scene.model import Overlay
from tapeviz.scene.text import clean

from .drawn import HOSTILE, drawing, hostile_drawing

NODE_FIELDS = {"id", "op", "name", "line", "role", "x", "y", "width", "height"}
EDGE_FIELDS = {"source", "target", "state", "route"}
has_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def load(made: Drawing) -> dict:
    loaded: dict = json.loads(render(made, "json"))
    return loaded


def test_json_is_a_graph_for_networkx() -> None:
    data = load(drawing())
    try:
        graph = nx.node_link_graph(data, edges="edges")
    except TypeError:
        graph = nx.node_link_graph(data, link="edges")
    assert isinstance(graph, nx.MultiDiGraph)
    assert nx.utils.graphs_equal(nx.DiGraph(graph.edges()), nx.DiGraph(drawing().graph.edges()))
    assert graph.graph["direction"] == "down"


def test_json_has_what_was_promised_of_each_node_and_edge() -> None:
    data = load(drawing())
    assert len(data["nodes"]) == 7
    assert len(data["edges"]) == 7
    assert all(set(node) >= NODE_FIELDS for node in data["nodes"])
    assert all(set(edge) >= EDGE_FIELDS for edge in data["edges"])
    nodes = {node["id"]: node for node in data["nodes"]}
    assert {name: node["role"] for name, node in nodes.items()} == {
        "patch": "source",
        "x": "variable",
        "assign": "op",
        "x′": "variable",
        "transpose": "op",
        "y": "op",
        "o": "target",
    }
    assert nodes["y"]["op"] == "MatMul"
    assert nodes["y"]["line"] == 6
    rect = drawing().layout.rects["y"]
    assert [nodes["y"][key] for key in ("x", "y", "width", "height")] == [
        rect.x,
        rect.y,
        rect.width,
        rect.height,
    ]


def test_json_tells_states_routes_and_cuts() -> None:
    data = load(drawing())
    edges = {(edge["source"], edge["target"]): edge for edge in data["edges"]}
    assert edges["patch", "assign"]["state"] == "cut"
    assert edges["y", "o"]["state"] == "gradient"
    assert len(edges["x′", "y"]["route"]) == 3
    (cut,) = data["graph"]["cuts"]
    assert (cut["source"], cut["target"]) == ("patch", "assign")
    assert "line 5" in cut["why"]
    bridged = load(drawing(overlay=Overlay(show_bridge=True)))
    assert "bridge" in {edge["state"] for edge in bridged["edges"]}


def test_json_takes_hostile_names() -> None:
    names = [node["name"] for node in load(hostile_drawing())["nodes"]]
    assert names == [clean(name) for name in HOSTILE]


def test_graphml_is_read_back() -> None:
    graph = nx.read_graphml(BytesIO(render(drawing(), "graphml")), force_multigraph=True)
    assert set(graph) == set(drawing().graph)
    assert graph.nodes["o"]["role"] == "target"
    assert {state for *_, state in graph.edges(data="state")} == {"cut", "gradient", "unrecorded"}


def test_graphml_takes_hostile_names() -> None:
    graph = nx.read_graphml(BytesIO(render(hostile_drawing(), "graphml")), force_multigraph=True)
    assert [name for _, name in graph.nodes(data="name")] == [clean(name) for name in HOSTILE]


def run_dot(made: Drawing) -> ET.Element:
    done = subprocess.run(
        ["dot", "-Tsvg"], input=render(made, "dot"), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"syntax" not in done.stderr.lower()
    return ET.fromstring(done.stdout)


@has_dot
def test_dot_is_accepted_by_graphviz() -> None:
    root = run_dot(drawing(overlay=Overlay(show_bridge=True, step=2)))
    kinds = [
        element.get("class", "").partition(" ")[0]
        for element in root.iter("{http://www.w3.org/2000/svg}g")
    ]
    assert kinds.count("node") == 7
    assert kinds.count("edge") == 7
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"patch", "Variable · 2×2", "Transpose", "2709.0"} <= texts


@has_dot
def test_dot_takes_hostile_names() -> None:
    root = run_dot(hostile_drawing())
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    found = {" ".join(text.split()) for text in texts}
    for name in HOSTILE:
        assert " ".join(clean(name).split()) in found | {""}


def test_dot_tells_states_by_style() -> None:
    text = render(drawing(overlay=Overlay()), "dot").decode()
    (cut,) = (line for line in text.splitlines() if '"patch" -> "assign"' in line)
    assert 'style="dashed"' in cut
