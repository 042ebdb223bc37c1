"""Kernels: numerical work on arrays that NumPy has no single call for. A kernel takes arrays and returns arrays."""
