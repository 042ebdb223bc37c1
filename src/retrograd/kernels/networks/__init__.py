"""Kernels of neural networks: activations, normalization, attention, losses."""
