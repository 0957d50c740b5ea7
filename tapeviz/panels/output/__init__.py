"""The dock that shows what the snippet printed, its figures, and the line for `input()`."""
