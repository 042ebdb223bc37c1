"""Computes a gradient in bfloat16: the extra `dtypes`."""

import retrograd as torch

x = torch.ones(300, dtype=torch.bfloat16, requires_grad=True)
x.sum().backward()
assert x.grad.dtype is torch.bfloat16
