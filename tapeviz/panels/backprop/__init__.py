"""The dock that steps through the backward pass."""
