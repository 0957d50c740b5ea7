"""The drawing in the window: a scene in, pixels and clicks out, however large the graph."""
