"""Tasks: worlds described in words, with contexts, questions and true answers."""
