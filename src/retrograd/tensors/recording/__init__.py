"""Recorded calls: operands, results, writes in place, `out=`, saved values, gradients, hooks."""
