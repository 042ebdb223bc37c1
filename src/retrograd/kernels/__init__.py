"""Arrays in, arrays out: the numerical work that NumPy has no single call for. Knows no Tensor and no graph."""
