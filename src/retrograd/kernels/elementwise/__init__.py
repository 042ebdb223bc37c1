"""Elementwise arithmetic, elementary functions and comparisons."""
