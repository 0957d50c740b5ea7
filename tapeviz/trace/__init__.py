"""Raw events in, an immutable :class:`~tapeviz.trace.model.Trace` out."""
