"""Kernels on sparse arrays: the arrays themselves, and functions from such arrays to arrays."""
