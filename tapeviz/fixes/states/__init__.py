"""Fixes for variables and weights that are written while a tape records."""
