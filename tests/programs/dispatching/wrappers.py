"""Tensors that wrap tensors, and what their class is handed, to compare retrograd with PyTorch."""

import copy
import pickle

import torch
from torch import nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass, return_and_correct_aliasing
from torch.utils._pytree import tree_map


def short(value):
    if isinstance(value, torch.Tensor):
        return type(value).__name__[0] + str(list(value.shape))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(short, value)) + "]"
    return repr(value)


class Logged(torch.Tensor):
    """A tensor whose class prints each operator, and computes with the tensor inside."""

    said = True
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inside):
        made = torch.Tensor._make_wrapper_subclass(
            cls, inside.size(), strides=inside.stride(), storage_offset=inside.storage_offset(), dtype=inside.dtype,
            layout=inside.layout, device=inside.device, requires_grad=inside.requires_grad)
        made.inside = inside.detach()
        return made

    def __repr__(self, *, tensor_contents=None):
        return f"Logged({self.inside})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if Logged.said:
            print("   ", func, [kind.__name__ for kind in types], short(args))
        args, kwargs = tree_map(lambda x: x.inside if isinstance(x, cls) else x, (args, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, func(*args, **kwargs))


class Quantized(torch.Tensor):
    """A matrix of small integers with a scale, which becomes floats where an operator needs them."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=torch.float32)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    @classmethod
    def of(cls, tensor):
        scale = tensor.abs().max() / 127
        return cls((tensor / scale).round().to(torch.int8), scale)

    def __repr__(self):
        return f"Quantized({self.numbers.tolist()}, {self.scale.item():.4f})"

    def __tensor_flatten__(self):
        return ["numbers", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, size, stride):
        return cls(inner["numbers"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.ops.aten.detach.default, torch.ops.aten.clone.default):
            found = cls(args[0].numbers.clone(), args[0].scale)
            return return_and_correct_aliasing(func, args, kwargs, found)
        if func is torch.ops.aten.t.default:
            return return_and_correct_aliasing(func, args, kwargs, cls(args[0].numbers.t(), args[0].scale))
        args, kwargs = tree_map(lambda x: x.numbers.float() * x.scale if isinstance(x, cls) else x, (args, kwargs))
        return func(*args, **kwargs)


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).partition(". ")[0].partition("\n")[0])


x = Logged(torch.arange(6.).view(2, 3).requires_grad_())
print(type(x).__name__, x.shape, x.dtype, x.requires_grad, x.device, x.is_leaf, x.stride(), x.layout)
y = (x * 2).exp().sum()
print(type(y).__name__, y.grad_fn.name())
y.backward()
print(type(x.grad).__name__, x.grad)

print("a parameter")
layer = nn.Linear(3, 2)
with torch.no_grad():
    for p in layer.parameters():
        p.fill_(0.5)
layer.weight = nn.Parameter(Logged(layer.weight.detach()))
print(type(layer.weight).__name__, isinstance(layer.weight, nn.Parameter))
layer(torch.ones(4, 3)).relu().sum().backward()
print(type(layer.weight.grad).__name__, layer.weight.grad, type(layer.bias.grad).__name__)
torch.optim.SGD(layer.parameters(), lr=0.1).step()
print(layer.weight)

print("quantized")
torch.manual_seed(0)
q = Quantized.of(torch.randn(2, 3))
a = torch.randn(4, 3, requires_grad=True)
print(q, q.shape, q.dtype, q.stride(), is_traceable_wrapper_subclass(q))
out = nn.functional.linear(a, q)
print(type(out).__name__, out.grad_fn.name(), out)
out.sum().backward()
print(a.grad, type(q + 1).__name__, q + 1, type(q.t()).__name__, q.t().shape)
layer = nn.Linear(3, 2)
layer.weight = nn.Parameter(q, requires_grad=False)
print(layer(torch.ones(1, 3)).shape, layer.weight, type(layer.state_dict()["weight"]).__name__)
print(copy.deepcopy(q), pickle.loads(pickle.dumps(q)), copy.deepcopy(layer).weight)

print("questions")
Logged.said = False
t = Logged(torch.arange(6.).view(2, 3))
for question in (
        lambda: t.sum().item(), lambda: float(t.sum()), lambda: bool((t > -1).all()), lambda: bool(t), lambda: len(t),
        lambda: t.tolist(), lambda: t.numpy(), lambda: t[0, 1], lambda: list(t), lambda: t.T, lambda: t.data,
        lambda: t.is_contiguous(), lambda: t.to(torch.float64).dtype, lambda: t.half().dtype, lambda: f"{t}",
        lambda: t == t, lambda: torch.equal(t, t), lambda: t.nelement(), lambda: t.untyped_storage().nbytes(),
        lambda: t.data_ptr(), lambda: t._version, lambda: t.add_(1), lambda: t._version, lambda: torch.zeros_like(t),
        lambda: t.new_zeros(2), lambda: torch.stack([t, t]).shape, lambda: torch.cat([t, torch.ones(1, 3)]).shape,
        lambda: torch.ones(2, 3) + t, lambda: t.to("cpu") is t, lambda: t.max(1).indices, lambda: t.split(1)[1],
        lambda: torch.Tensor._make_wrapper_subclass(Logged, (2,), dtype=torch.int64, requires_grad=True)):
    attempt(question)
Logged.said = False
places = Logged(torch.tensor([0, 2]))
print(nn.functional.one_hot(places), nn.functional.one_hot(places, 4), torch.polygamma(1, Logged(torch.ones(2))))
