"""Operators on stacks of matrices."""
