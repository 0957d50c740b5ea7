"""Graph, layout and overlay in, a scene out."""
