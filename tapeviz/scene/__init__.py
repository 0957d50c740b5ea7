"""Compose a scene from a graph, its layout and an overlay."""
