"""The server that agents ask, over the Model Context Protocol. Nothing here is loaded but by ``affidavit mcp``."""
