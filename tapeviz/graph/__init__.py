"""A trace in, a networkx graph of nodes and edges out."""
