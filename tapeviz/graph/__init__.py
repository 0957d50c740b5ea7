"""What could be shown: a trace in, a networkx graph of nodes and edges out."""
