"""Elementwise functions: each element of the result depends on the elements in the same place."""
