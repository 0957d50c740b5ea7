"""Make a layered layout fit the room that it has: columns, stacks, wider boxes, gaps of rows."""
