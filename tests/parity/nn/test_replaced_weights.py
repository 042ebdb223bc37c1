"""Modules whose weights are other objects than those that they were made with, as PyTorch's."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = """
import copy, pickle, warnings
warnings.simplefilter("ignore")
nn, F = torch.nn, torch.nn.functional

def shown(*tensors):
    print(*[[round(n, 4) for n in t.detach().flatten().tolist()] for t in tensors])

class Doubled(nn.Module):
    def forward(self, x):
        return x * 2
"""

RECURRENT = """
torch.manual_seed(0)
net, x = nn.{name}(3, 2, {options}), torch.randn(4, 1, 3)
parameters = {{name: (p * 2).detach().requires_grad_() for name, p in net.named_parameters()}}
out = torch.func.functional_call(net, parameters, (x,))[0]
out.sum().backward()
shown(out, *[p.grad for p in parameters.values()], net(x)[0])

def loss(p):
    return torch.func.functional_call(net, p, (x,))[0].square().sum()

found = torch.func.grad(loss)({{name: p.detach() for name, p in net.named_parameters()}})
shown(*found.values())
if net.mode != "LSTM":                        # PyTorch's LSTM has no tangents
    shown(*torch.func.jvp(loss, ({{name: p.detach() for name, p in net.named_parameters()}},),
                          ({{name: torch.ones_like(p) for name, p in net.named_parameters()}},)))
attempt(lambda: torch.func.functional_call(net, {{name: p * 2 for name, p in parameters.items()}}, (x,))[0].sum())
for again in (lambda: copy.deepcopy(net), lambda: copy.copy(net), lambda: pickle.loads(pickle.dumps(net))):
    attempt(lambda: all(a is b for a, b in zip(again()._flat_weights, net.parameters())))
    attempt(lambda: shown(again()(x)[0]))
torch.nn.utils.parametrize.register_parametrization(net, "weight_hh_l0", Doubled())
attempt(lambda: copy.deepcopy(net))
shown(net(x)[0])
with torch.no_grad():
    net.parametrizations.weight_hh_l0.original.mul_(3)
out = net(x)[0]
out.sum().backward()
shown(out, net.parametrizations.weight_hh_l0.original.grad)
torch.nn.utils.parametrize.remove_parametrizations(net, "weight_hh_l0")
shown(net(x)[0])
torch.nn.utils.parametrizations.weight_norm(net, "weight_ih_l0")
out = net(x)[0]
out.sum().backward()
shown(out, *[p.grad for _, p in sorted(net.named_parameters()) if p.grad is not None])
net = nn.{name}(3, 2, {options})
net._parameters["weight_hh_l0"] = nn.Parameter(torch.ones_like(net.weight_hh_l0))
shown(net(x)[0])
"""

LOSSES = """
for loss in (nn.CrossEntropyLoss(), nn.NLLLoss(), nn.MultiMarginLoss(), nn.CrossEntropyLoss(label_smoothing=0.1)):
    loss.weight = nn.Parameter(torch.tensor([1., 2., 3.]))
    attempt(lambda: loss(torch.eye(3), torch.tensor([0, 1, 2])))
    with torch.no_grad():
        attempt(lambda: loss(torch.eye(3), torch.tensor([0, 1, 2])))
    del loss.weight
    loss.weight = None
    attempt(lambda: loss(torch.eye(3), torch.tensor([0, 1, 2])))
w = torch.ones(3, requires_grad=True)
attempt(lambda: F.nll_loss(torch.zeros(2, 3, 2, 2), torch.zeros(2, 2, 2, dtype=torch.long), w))
attempt(lambda: F.binary_cross_entropy(torch.full((3,), 0.5), torch.ones(3), w))
attempt(lambda: F.cross_entropy(torch.eye(3), torch.eye(3), w))
"""

CONSTANTS = """
w, s = torch.ones(3, requires_grad=True), torch.full((1, 1, 2), 0.3, requires_grad=True)
def all_of():
    attempt(lambda: F.fractional_max_pool2d(torch.ones(1, 1, 4, 4), 2, output_size=2, _random_samples=s))
    attempt(lambda: F.batch_norm(torch.eye(3), w, torch.ones(3), training=True))
    attempt(lambda: F.batch_norm(torch.eye(3), torch.ones(3), w))
    attempt(lambda: F.instance_norm(torch.ones(1, 3, 4), w, torch.ones(3)))
all_of()
with torch.no_grad():
    all_of()
"""

PLAIN = """
for name in ("Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink", "Identity"):
    attempt(lambda: getattr(nn, name)(3))
    attempt(lambda: getattr(nn, name)(inplace=True))
"""


@pytest.mark.parametrize("options", ["", "num_layers=2, bidirectional=True, bias=False"])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_recurrent_networks(name: str, options: str) -> None:
    program = HEAD + RECURRENT.format(name=name, options=options)
    assert transcript(retrograd, program) == transcript(torch, program)


@pytest.mark.parametrize("program", [LOSSES, CONSTANTS, PLAIN])
def test_programs(program: str) -> None:
    assert transcript(retrograd, HEAD + program) == transcript(torch, HEAD + program)
