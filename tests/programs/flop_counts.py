"""A program that counts floating-point operations in all ways, to compare retrograd with PyTorch."""

import torch
from torch import nn
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode
from torch.utils.module_tracker import ModuleTracker

functional, ones = nn.functional, torch.ones


def counted(program, **options):
    with FlopCounterMode(display=False, **options) as counter:
        program()
    counts = {name: sorted((str(key), number) for key, number in found.items())
              for name, found in counter.get_flop_counts().items()}
    print(counter.get_total_flops(), sorted(counts.items()))
    return counter


def say(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


def leaf(*shape):
    return ones(*shape, requires_grad=True)


counted(lambda: (leaf(3, 4) @ leaf(4, 5)).sum().backward())
counted(lambda: ones(3, 4) @ ones(4))
counted(lambda: ones(4) @ ones(4))
counted(lambda: ones(2, 3, 4) @ ones(2, 4, 5))
counted(lambda: torch.baddbmm(leaf(2, 3, 5), leaf(2, 3, 4), leaf(2, 4, 5)).sum().backward())
counted(lambda: torch.addmm(leaf(5), leaf(3, 4), leaf(4, 5)).sum().backward())
counted(lambda: functional.linear(leaf(2, 3, 4), leaf(5, 4), leaf(5)).sum().backward())
counted(lambda: torch.einsum("ij,jk", ones(2, 3), ones(3, 4)))
counted(lambda: ones(3).exp() + 1)


def convolutions(dims):
    sizes = [8, 7, 6][:dims]
    forward = getattr(functional, f"conv{dims}d")
    back = getattr(functional, f"conv_transpose{dims}d")
    kernel = [3] * dims
    counted(lambda: forward(leaf(2, 4, *sizes), leaf(6, 2, *kernel), leaf(6), groups=2, padding=1).sum().backward())
    counted(lambda: forward(ones(2, 4, *sizes), leaf(6, 4, *kernel), stride=2, dilation=2).sum().backward())
    counted(lambda: forward(leaf(2, 4, *sizes), ones(6, 4, *kernel), stride=2, padding=1).sum().backward())
    counted(lambda: back(leaf(2, 4, *sizes), leaf(4, 3, *kernel), groups=2, padding=1, stride=2).sum().backward())


for dims in (1, 2, 3):
    convolutions(dims)
counted(lambda: functional.scaled_dot_product_attention(leaf(1, 2, 3, 4), leaf(1, 2, 5, 4), leaf(1, 2, 5, 6))
        .sum().backward())
counted(lambda: functional.scaled_dot_product_attention(leaf(1, 2, 3, 4), leaf(1, 2, 5, 4), leaf(1, 2, 5, 4))
        .sum().backward())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x):
        return self.rest(self.first(x))


model = Model()
counted(lambda: model(ones(5, 3)).sum().backward())
counted(lambda: model(leaf(5, 3)).sum().backward())
counted(lambda: (model(ones(5, 3)), ones(20, 30) @ ones(30, 40)))


def nested():
    model(ones(5, 3))
    counted(lambda: model(ones(1, 3)))
    with torch.profiler.profile():
        model(ones(2, 3))


counted(nested)
for size in ((2, 3), (1, 2, 3)):
    say(lambda size=size: flop_counter.mm_flop(size, size))
    say(lambda size=size: flop_counter.bmm_flop(size, size))
print(flop_counter.conv_flop_count([1, 2, 3, 3], [2, 2, 3, 3], [1, 2, 1, 1]),
      flop_counter.sdpa_flop_count((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6)))
say(lambda: flop_counter.sdpa_flop_count((1, 2, 3, 4), (1, 2, 5, 3), (1, 2, 5, 6)))
print([flop_counter.get_suffix_str(number) for number in (0, 1, 999, 1000, 9999, 10**4, 10**6, 10**7, 10**10, 10**18)])
print([flop_counter.convert_to_percent_str(*pair) for pair in ((1, 3), (1, 0), (5, 5))])

tracker = ModuleTracker()
with tracker:
    for x in (ones(2, 3), leaf(2, 3)):
        handles = [part.weight.register_hook(lambda g: print("backward", sorted(tracker.parents), tracker.is_bw))
                   for part in (model.first, model.rest[0], model.rest[2])]
        handles += [part.register_forward_hook(lambda *call: print("forward", sorted(tracker.parents), tracker.is_bw))
                    for part in (model, model.rest, model.rest[1])]
        model(x).sum().backward()
        for handle in handles:
            handle.remove()
        print(sorted(tracker.parents), tracker.is_bw)
    with torch.no_grad():
        nn.Linear(2, 2)(ones(1, 2))
print(sorted(tracker.parents))
