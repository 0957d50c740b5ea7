"""Keep the recorder out of what snippets see: warnings, tracebacks, trace functions, profilers."""
