"""The recall gate: between what a search of memory found and what a model is given."""
