"""What it means: a trace in, a :class:`~tapeviz.analysis.model.Diagnosis` out."""
