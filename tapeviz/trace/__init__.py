"""Read raw events as an immutable :class:`~tapeviz.trace.model.Trace`."""
