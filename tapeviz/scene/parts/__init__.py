"""The parts that a scene is made of: boxes, frames, marks, and the outlines that they share."""
