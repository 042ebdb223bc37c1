"""Arithmetic, elementary functions and comparisons, element by element."""
