"""The policy of a store: what its people decided about how it works, and who may decide."""
