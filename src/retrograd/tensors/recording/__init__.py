"""Recorded calls: operands, results, in-place writes, `out=`, saved values, gradients, hooks."""
