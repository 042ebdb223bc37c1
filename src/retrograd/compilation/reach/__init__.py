"""What a call of a function can reach, and whether it has changed."""
