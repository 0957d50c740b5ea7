"""The one observable object, and what it is made of: Qt's signals, but no widget."""

from .document import Document

__all__ = ["Document"]
