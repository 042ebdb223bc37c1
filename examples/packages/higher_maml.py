"""higher: gradients through the steps of an optimizer, for learning to learn sine waves (MAML)."""

import higher
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
inner = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
outer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    outer.zero_grad()
    total = 0.0
    for _ in range(3):
        phase, height = torch.rand(1) * 3, torch.rand(1) + 0.5
        x = torch.rand(20, 1) * 6 - 3
        y = height * torch.sin(x + phase)
        with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (learner, optimizer):
            for _ in range(3):
                optimizer.step(nn.functional.mse_loss(learner(x[:10]), y[:10]))
            loss = nn.functional.mse_loss(learner(x[10:]), y[10:])
            loss.backward()
            total += loss.item() / 3
    outer.step()
    if step % 10 == 0:
        print(f"step {step}: loss after the inner steps {total:.4f}")
rate = torch.tensor(0.1, requires_grad=True)
adam = torch.optim.Adam(model.parameters(), lr=0.1)
with higher.innerloop_ctx(model, adam, override={"lr": [rate]}) as (learner, optimizer):
    optimizer.step(nn.functional.mse_loss(learner(x), y))
    (gradient,) = torch.autograd.grad(nn.functional.mse_loss(learner(x), y), rate)
print(f"gradient of the learning rate {gradient.item():.3f}")
