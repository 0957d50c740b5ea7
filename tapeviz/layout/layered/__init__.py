"""The layered layout of one connected graph: ranks, orders, coordinates, routes."""
