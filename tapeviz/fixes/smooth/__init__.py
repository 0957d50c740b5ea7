"""Replace operations without a slope by neighbours that have one: each is an estimate."""
