"""ema-pytorch: an exponential moving average of a network's weights during training."""

import torch
from ema_pytorch import EMA
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
average = EMA(network, beta=0.99, update_after_step=10, update_every=2)
optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
x = torch.randn(128, 4)
y = x[:, :1] * x[:, 1:2]
for _ in range(100):
    loss = nn.functional.mse_loss(network(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update()
with torch.no_grad():
    losses = [nn.functional.mse_loss(model(x), y).item() for model in (network, average)]
print(f"network {losses[0]:.4f}, average {losses[1]:.4f}")
decay = float(average.get_current_decay())
print(f"steps {average.step.item()}, decay {decay:.4f}, entries {len(average.state_dict())}")
again = EMA(network)
print(again.load_state_dict(average.state_dict()), torch.equal(again.ema_model[0].weight, average.ema_model[0].weight))
