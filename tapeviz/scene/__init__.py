"""What to draw, in order, without Qt: graph, layout and overlay in, a scene out."""
