"""The passes of the repair: one for each kind of damage that a text takes when it is pasted."""
