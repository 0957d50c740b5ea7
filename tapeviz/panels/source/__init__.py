"""The dock with the text: an editor, its margins and marks, and what was repaired in it."""
