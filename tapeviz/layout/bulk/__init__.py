"""The layered layout of large graphs: the same steps on arrays, all rows at once."""
