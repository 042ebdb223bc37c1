"""Fake tensors, which have sizes and no numbers, to compare retrograd with PyTorch."""

import copy
import warnings

import torch
from torch import nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    unset_fake_temporarily,
)

warnings.simplefilter("ignore")


def attempt(function):
    try:
        print(function())
    except AssertionError as error:
        print(type(error).__name__, str(error).partition(" x.fake_mode")[0])
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        print(type(error).__name__, error, error.func)
    except RuntimeError as error:
        print(type(error).__name__)


mode = FakeTensorMode()
with mode:
    x = torch.randn(4, 5)
    print(type(x).__name__, x.shape, x.device, x.dtype, x.fake_mode is mode, x, x.stride(), x.t().contiguous().stride())
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    y = model(x)
    print(y, repr(model[0].weight), type(model[0].weight).__name__, isinstance(model[0].weight, nn.Parameter))
    loss = nn.functional.cross_entropy(y, torch.zeros(4, dtype=torch.int64))
    loss.backward()
    print(loss, model[0].weight.grad)
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.step()
    images = torch.ones(2, 3, 8, 8)
    layer = nn.Conv2d(3, 4, 3)
    print(layer(images), nn.BatchNorm2d(4)(layer(images)), nn.functional.max_pool2d(images, 2).shape)
    steps = torch.ones(3, 2, 8)
    print(nn.MultiheadAttention(8, 2)(steps, steps, steps)[0], nn.LSTM(8, 5)(steps)[0])
    print(nn.TransformerEncoderLayer(8, 2, 16)(steps))
    for question in (
            lambda: x.sum().item(), lambda: bool(x.sum() > 0), lambda: x.nonzero(), lambda: x[x > 0],
            lambda: x.tolist(), lambda: x.numpy(), lambda: torch.tensor([1., 2.]), lambda: x + torch.ones(3),
            lambda: x @ torch.ones(4), lambda: x.add_(1), lambda: x.view(20).t(), lambda: torch.cat([x, x]),
            lambda: x.to(torch.float64), lambda: x.max(0).indices, lambda: torch.masked_select(x, x > 0),
            lambda: torch.tensor(3).item(), lambda: torch.ones(2, device="meta"), lambda: x[:, None].expand(4, 6, 5)):
        attempt(question)
    large = torch.empty(10**6, 10**6)
    print(large.shape, (large @ large).shape)
    with unset_fake_temporarily() as old:
        print(type(torch.ones(2)).__name__, old is mode)
print(torch.ones(2) + 1)
real = torch.ones(4, 5)
fake, other = mode.from_tensor(real), FakeTensorMode().from_tensor(real)
print(fake, fake.requires_grad, type(fake).__name__, mode.from_tensor(real) is fake)
parameter = mode.from_tensor(nn.Parameter(real))
print(type(parameter).__name__, isinstance(parameter, nn.Parameter), parameter.requires_grad)
for question in (lambda: fake + 1, lambda: fake + real, lambda: real * fake, lambda: fake + other,
                 lambda: copy.deepcopy(fake), lambda: isinstance(fake, FakeTensor)):
    attempt(question)
with mode:
    for question in (lambda: real + 1, lambda: fake + real, lambda: fake.exp()):
        attempt(question)
with FakeTensorMode(allow_non_fake_inputs=True):
    attempt(lambda: real + 1)
fake = mode.from_tensor(torch.ones(2, 3)).requires_grad_()
for made in (fake.detach(), fake.data, (fake * 2).detach(), (fake * 2).detach().clone(), (fake * 2).detach_()):
    print(made is fake, made.requires_grad, made.grad_fn)
with mode:
    layer = nn.Linear(2, 2)
    print([value.requires_grad for value in layer.state_dict().values()])
    written = torch.ones(2)
    print(written.add_(1) is written, torch.add(written, 1, out=written) is written)
