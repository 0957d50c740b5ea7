"""The dock that shows the values of the selected tensor."""
