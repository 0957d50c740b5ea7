"""Code that runs in the user's interpreter, sent as text; it uses the stdlib and ipykernel only.

``fork_server`` is executed as a script. ``boot`` is executed in a kernel and loads the rest under
the private name ``_tapeviz_inside``, so nothing here may import ``tapeviz``.
"""
