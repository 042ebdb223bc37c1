"""What a tensor holds: array, edge and AutogradMeta. This is the lowest layer of `tensors`."""
