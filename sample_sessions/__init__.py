"""The demo: three synthetic sessions of our own, each telling a story, and a store copy somebody tampered with."""
