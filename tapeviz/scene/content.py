"""Choose the words, the value and the picture size of a node's box.

Box sizes and painters share them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..graph.model import Node
from ..graph.words import shape_words
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.ops import Tensor
from .model import BoxShape
from .parts.numbers import rounded_text, scalar_text
from .parts.pictures import cells_of_tensor
from .text import clean, shorten

TITLE_LENGTH = 24
"""Longer titles lose their middle; the tooltip has them whole."""
SHORT_LENGTH = 16
"""The same for a node that :attr:`.Node.is_short`."""
SUBTITLE_LENGTH = 36


@dataclass(frozen=True, slots=True)
class Content:
    """The value in a box. ``value``: a number as text; ``cells``: (rows, columns) of the picture,
    None for none; ``is_small``: the box shows its title alone."""

    shape: BoxShape
    title: str
    subtitle: str
    value: str = ""
    cells: tuple[int, int] | None = None
    is_small: bool = False


SHAPES: dict[str, BoxShape] = {
    "op": "rounded",
    "variable": "capsule",
    "constant": "chip",
    "group": "stack",
}


def content_of(node: Node, trace: Trace) -> Content:
    """The words and picture in a node's box. An array that stayed in the kernel has no picture."""
    shape = SHAPES[node.role]
    tensor = None if node.tensor is None else trace.tensors.get(node.tensor)
    title = shorten(node.title, SHORT_LENGTH if node.is_short else TITLE_LENGTH)
    if shape == "chip":
        return Content(shape, _chip_text(node, tensor, trace), "", is_small=True)
    if node.is_chip:
        return Content(shape, title, "", is_small=True)
    if node.is_flat:
        return Content(shape, _flat_title(title, node, tensor, trace), "", is_small=True)
    subtitle = shorten(node.subtitle, SUBTITLE_LENGTH, "end")
    if node.tensor is None or tensor is None or is_write(node):
        return Content(shape, title, subtitle)
    if tensor.shape is not None and tensor.size == 1:
        return Content(shape, title, subtitle, _only_element(node.tensor, trace))
    is_pictured = node.has_picture and _is_numeric(tensor.dtype)
    cells = cells_of_tensor(node.tensor, trace) if is_pictured else None
    return Content(shape, title, subtitle, "", cells)


def is_write(node: Node) -> bool:
    """Whether the node is a single op that writes a variable (a group with such an op is not)."""
    return node.assigns and node.role == "op"


def _only_element(tensor: TensorId, trace: Trace) -> str:
    value = trace.value(tensor)
    return "" if value is None or value.size != 1 else scalar_text(value.flat[0])


def _flat_title(title: str, node: Node, tensor: Tensor | None, trace: Trace) -> str:
    """``dense/kernel · 16×2``, ``b = 0.5``: the name with shape, or with the only element."""
    if node.tensor is None or tensor is None or tensor.shape is None:
        return title
    if tensor.size == 1:
        value = _only_element(node.tensor, trace)
        return f"{title} = {value}" if value else title
    return f"{title} · {shape_words(tensor.shape)}"


def _is_numeric(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat", "int", "uint", "complex", "bool"))


def _chip_text(node: Node, tensor: Tensor | None, trace: Trace) -> str:
    """``2.0``, ``[2]``, ``float32 3×4``; named by the user: ``a = 2.0``, ``data · 5×3``."""
    if node.tensor is None or tensor is None:
        return shorten(node.title, TITLE_LENGTH)
    value = trace.value(node.tensor)
    text = "" if value is None else rounded_text(value) if value.size else "[]"
    name = clean(node.name)
    if text:
        # In graph mode a literal is an op, whose name is the literal itself.
        whole = f"{name} = {text}" if name and name != text else text
    else:
        shape = shape_words(tensor.shape)
        # ``float32 3`` would read as the number 3.
        shape = f"[{shape}]" if shape.isdecimal() else shape
        whole = f"{name} · {shape}".rstrip(" ·") if name else f"{tensor.dtype} {shape}".rstrip()
    return shorten(whole, TITLE_LENGTH)
