"""The formats that a picture can be written in, by suffix: the table of the writers in `export`.

It stands outside of that room because ``--help`` names the formats, and loads nothing slow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Writer:
    """A file format. ``module``: a module of `export` with ``write(drawing, options) -> bytes``;
    ``entry``, ``tip``: its line in the menu (with a mnemonic) and the tooltip.

    ``makes``: a ``film`` has ``animate`` for several drawings one after the other, a ``page``
    has ``write_page`` for all of a gradient call.
    """

    module: str
    entry: str
    tip: str
    makes: Literal["picture", "film", "page"] = "picture"


WRITERS: Mapping[str, Writer] = {
    "png": Writer("png", "&PNG", "The picture in pixels, twice as sharp as the screen"),
    "svg": Writer("svg", "&SVG", "The picture as vectors, text stays text"),
    "pdf": Writer("pdf", "P&DF", "The picture as a page"),
    "dot": Writer("dot", "D&OT", "The graph for Graphviz"),
    "json": Writer("node_link", "&JSON", "The graph with its places, as networkx node-link data"),
    "graphml": Writer("graphml", "Graph&ML", "The graph for yEd, Gephi or Cytoscape"),
    "html": Writer(
        "html", "&HTML", "A page to share: source, picture, diagnosis, and the steps", "page"
    ),
    "gif": Writer(
        "gif",
        "&GIF",
        "A film of the backward pass, a second for each step, a minute at most",
        "film",
    ),
}
