"""PyTorch's random streams, bit for bit."""
