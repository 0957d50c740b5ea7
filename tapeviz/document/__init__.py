"""The observable document and its parts, with Qt's signals but without widgets."""

from .document import Document

__all__ = ["Document"]
