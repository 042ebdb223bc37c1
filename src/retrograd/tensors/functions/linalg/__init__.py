"""Functions of vectors and matrices."""
