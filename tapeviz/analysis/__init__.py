"""A trace in, a :class:`~tapeviz.analysis.model.Diagnosis` out."""

from .diagnose import diagnose

__all__ = ["diagnose"]
