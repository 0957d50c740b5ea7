"""Numbers by which a recording names things; each kind a type of its own."""

from __future__ import annotations

from typing import NewType

OpId = NewType("OpId", int)
TensorId = NewType("TensorId", int)
VariableId = NewType("VariableId", int)
"""The id of the variable's handle tensor."""
TapeId = NewType("TapeId", int)
CallId = NewType("CallId", int)
SiteId = NewType("SiteId", int)
