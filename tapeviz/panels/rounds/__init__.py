"""Changes from round to round: the strip above the graph, and the dock over time."""
