"""Transforms of functions: tangents beside memory, batches behind tensors, and the levels that both nest in."""
