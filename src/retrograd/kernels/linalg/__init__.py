"""Products, factorizations and solutions of stacks of matrices."""
