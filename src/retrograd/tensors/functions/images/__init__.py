"""Functions for images and signals."""
