"""How fast and how small, as ratios to what the machine could do at best, measured in the same run."""
