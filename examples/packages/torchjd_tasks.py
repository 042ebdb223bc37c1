"""torchjd: trains a network on two tasks that disagree; the Jacobians of both losses are combined without conflict."""

import torch
from torch import nn
from torchjd.aggregation import IMTLG, MGDA, Mean, PCGrad
from torchjd.autojac import backward, jac_to_grad

x = torch.linspace(-1, 1, 24)[:, None]
wanted = torch.cat([torch.sin(3 * x), -2 * torch.sin(3 * x) + 0.5 * x], 1)
for aggregator in (Mean(), MGDA(), IMTLG(), PCGrad()):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        losses = (model(x) - wanted).square().mean(0)
        optimizer.zero_grad()
        backward(losses)
        jac_to_grad(model.parameters(), aggregator)
        optimizer.step()
    print(f"{type(aggregator).__name__:7} losses {losses[0]:.4f} and {losses[1]:.4f}")
