"""Make a networkx graph of nodes and edges from a trace."""
