"""Functions that make tensors."""
