"""Functions that compute element by element."""
