"""What the window keeps on disk: texts, recordings, drafts, pictures, settings."""
