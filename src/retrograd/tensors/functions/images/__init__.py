"""Functions of images and signals."""
