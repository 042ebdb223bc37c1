"""Dispatch below autograd: modes and classes of tensors that see the operators of PyTorch's core, such as `aten.mul`.

Nothing imports this package before a program enters a `TorchDispatchMode`, makes a wrapper of tensors, or calls an
overload of `torch.ops.aten`.
"""
