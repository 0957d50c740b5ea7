"""Recordings in ``.tape`` files: written, read, and checked where they come from outside."""
