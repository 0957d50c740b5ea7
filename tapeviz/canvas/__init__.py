"""The drawing in the window: pixels and clicks of a scene, however large the graph."""
