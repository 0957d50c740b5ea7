"""Explain a trace: the :class:`~tapeviz.analysis.model.Diagnosis` of its gradient calls."""

from .diagnose import diagnose

__all__ = ["diagnose"]
