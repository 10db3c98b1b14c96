"""Scoped retrieval: what a search is entitled to see, what it found, and what the model was given of it."""
