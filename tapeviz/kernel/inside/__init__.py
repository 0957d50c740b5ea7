"""Code that runs inside the user's interpreter: stdlib and ipykernel only, sent as text.

``fork_server`` is executed by itself (``python -c``). ``boot`` is executed in a kernel and loads
the rest under the private name ``_tapeviz_inside``, so nothing here may import ``tapeviz``.
"""
