"""What a model has in front of it in one request."""
