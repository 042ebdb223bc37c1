"""torchopt: functional optimizers whose steps can be differentiated."""

import torch
import torchopt
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * torch.randn(64, 1)
for make in (torchopt.adam, torchopt.adamw, torchopt.rmsprop, torchopt.sgd, torchopt.adagrad):
    weights = {"w": torch.zeros(3, 1, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
    optimizer = make(lr=0.05)
    state = optimizer.init(weights)
    for _ in range(50):
        loss = nn.functional.mse_loss(x @ weights["w"] + weights["b"], y)
        gradients = dict(zip(weights, torch.autograd.grad(loss, tuple(weights.values()))))
        updates, state = optimizer.update(gradients, state, params=weights, inplace=True)
        weights = torchopt.apply_updates(weights, updates, inplace=True)
    print(f"{make.__name__}: loss {loss.item():.4f}")
scale = torch.tensor(2.0, requires_grad=True)
model = nn.Linear(3, 1)
inner = torchopt.MetaSGD(model, lr=0.1, momentum=0.9)
for _ in range(3):
    inner.step(nn.functional.mse_loss(scale * model(x), y))
loss = nn.functional.mse_loss(model(x), y)
loss.backward()
print(f"loss {loss.item():.4f}, gradient through three steps {scale.grad.item():.4f}")
schedule = torchopt.schedule.linear_schedule(init_value=0.1, end_value=0.01, transition_steps=10, transition_begin=2)
print("rates:", [round(float(schedule(step)), 3) for step in (0, 5, 12)])
