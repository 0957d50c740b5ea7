"""Choose the attributes of an op that a reader cares about."""

from __future__ import annotations

import re
from typing import Any

# Types and counts that follow from the tensors, and how the runtime is to go about it.
_DULL = re.compile(
    r"T|T[a-z]\w*|N|Index|container|shared_name|debug_name|allowed_devices|config|config_proto"
    r"|executor_type|_.*|grad_a|grad_b|validate_shape|index_type|use_locking|f|dtypes?|shape|value"
)


def readable(attrs: Any) -> dict[str, Any]:
    """The attributes that matter, as JSON values."""
    found: dict[str, Any] = {}
    for name, value in zip(attrs[::2], attrs[1::2], strict=False) if attrs else ():
        if not _DULL.fullmatch(name):
            plain = _plain(name, value)
            if plain is not None:
                found[name] = plain
    return found


def _plain(name: str, value: Any) -> Any:
    if hasattr(value, "WhichOneof"):
        return _plain_message(name, value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if name in ("SrcT", "DstT", "out_type", "output_type") and not hasattr(value, "name"):
        return _dtype_name(value)
    if isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, str) or len(value) < 200 else None
    if hasattr(type(value), "as_numpy_dtype"):  # variants and resources have no NumPy dtype
        return value.name
    if isinstance(value, (list, tuple)) and len(value) <= 20:
        return [_plain(name, item) for item in value]
    return None


def _plain_message(name: str, value: Any) -> Any:
    """An ``AttrValue`` of a graph's op."""
    kind = value.WhichOneof("value")
    if kind == "type":
        return _dtype_name(value.type)
    if kind == "list":
        numbers = list(value.list.i) or list(value.list.f) or list(value.list.b)
        return numbers[:20] or [text.decode("utf-8", "replace") for text in value.list.s][:20]
    if kind in ("b", "i", "f", "s"):
        return _plain(name, getattr(value, kind))
    return None


def _dtype_name(number: Any) -> str | None:
    from . import private

    try:
        return private.dtype_name(number)
    except TypeError:
        return None
