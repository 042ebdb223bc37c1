"""The arguments of public functions: sizes, dims, dtypes, devices, generators; and PyTorch's schemas."""
