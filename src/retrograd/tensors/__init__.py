"""Tensor: recording, views and versions, methods, creation, printing."""
