"""The things that the window keeps on disk: texts, recordings, drafts, pictures, settings."""
