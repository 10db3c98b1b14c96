"""A workspace folder as something that can be searched: walked, indexed in the store, asked within a scope."""
