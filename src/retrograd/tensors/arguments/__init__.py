"""What callers may pass: sizes, dims, dtypes, devices, generators; and PyTorch's schemas of its functions."""
