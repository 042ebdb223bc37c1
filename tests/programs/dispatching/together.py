"""Modes and wrappers beside other parts of the package, to compare retrograd with PyTorch."""

import io
import warnings

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

warnings.simplefilter("ignore")


class Names(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace != "profiler":
            self.seen.append(str(func))
        return func(*args, **(kwargs or {}))

    def __enter__(self):
        self.seen = []
        return super().__enter__()


class Wrapped(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inside):
        made = torch.Tensor._make_wrapper_subclass(cls, inside.size(), dtype=inside.dtype,
                                                   requires_grad=inside.requires_grad)
        made.inside = inside.detach()
        return made

    def __repr__(self):
        return f"Wrapped({self.inside})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda x: x.inside if isinstance(x, cls) else x, (args, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, func(*args, **kwargs))


x = torch.arange(6.).view(2, 3)
w = torch.ones(3, 3, requires_grad=True)
with Names() as names:
    print(torch.vmap(lambda v: (v * 2).sum())(x), torch.func.grad(lambda v: (v * v).sum())(x))
    print(torch.func.jvp(torch.sin, (x,), (x,)))
print(sorted({*names.seen} & {"aten.mul.Tensor", "aten.sum.dim_IntList", "aten.sin.default", "aten.cos.default"}))
with Names() as names:
    checkpoint(lambda a: (a @ w).relu(), x, use_reentrant=False).sum().backward()
print(names.seen.count("aten.mm.default"), names.seen.count("aten.relu.default"))
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t), Names() as names:
    (w * w).sum().backward()
print(names.seen.count("aten.mul.Tensor"), w.grad)
a = Wrapped(torch.ones(3)).requires_grad_()
with torch.autograd.graph.saved_tensors_hooks(lambda t: (print("packed", type(t).__name__), t)[1], lambda t: t):
    z = (a * a).exp()
z.sum().backward()
print(a.grad)
a.register_hook(lambda g: print("hook", type(g).__name__))
a.register_post_accumulate_grad_hook(lambda p: print("after", type(p).__name__, type(p.grad).__name__))
(a * 2).sum().backward()
print(torch.autograd.grad((a * 3).sum(), [a]))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(ctx, g):
        print(type(g).__name__, type(ctx.saved_tensors[0]).__name__)
        return g * 2


Doubled.apply(a).sum().backward()
file = io.BytesIO()
layer = nn.Linear(3, 2)
layer.weight = nn.Parameter(Wrapped(torch.ones(2, 3)))
torch.save(layer.state_dict(), file)
file.seek(0)
loaded = torch.load(file, weights_only=False)
print(type(loaded["weight"]).__name__, loaded["weight"], layer.load_state_dict(loaded))
with Names() as names:
    print([v.shape for (v,) in DataLoader(TensorDataset(x), batch_size=2, shuffle=False)])
compiled = torch.compile(lambda v: (v * 2).exp(), backend="eager")
print(compiled(x))
with torch.autocast("cpu", dtype=torch.bfloat16), Names() as names:
    print((x @ x.t()).dtype, sorted(names.seen))
q = torch.tensor([1., 2.], requires_grad=True)
with Names() as names:
    g, = torch.autograd.grad((q ** 3).sum(), q, create_graph=True)
    print(g.detach(), torch.autograd.grad(g.sum(), q), len(names.seen) > 8)


@torch.library.custom_op("dispatching::twice", mutates_args=())
def twice(v: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(v.detach().numpy() * 2)


twice.register_fake(torch.empty_like)
twice.register_autograd(lambda ctx, g: g * 2)
twice.register_torch_dispatch(Names, lambda mode, func, types, args, kwargs: (print("own", func), func(*args))[1])
with Names() as names:
    twice(q).sum().backward()
print(q.grad, "dispatching.twice.default" in names.seen)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
images = torch.ones(2, 3, 8, 8)
with FlopCounterMode(display=False) as counter, Names():
    model(images).sum().backward()
print(counter.get_total_flops(), sorted((str(k), v) for k, v in counter.get_flop_counts()["Global"].items()))
with Names(), FlopCounterMode(display=False) as counter:
    model(images).sum().backward()
print(counter.get_total_flops())
