"""tensordict: dictionaries of tensors with one batch shape, as data and as parameters of modules."""

import torch
from tensordict import TensorDict, TensorDictParams
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn

torch.manual_seed(0)
batch = TensorDict({"a": torch.randn(6, 2), "more": {"b": torch.arange(6)}}, batch_size=[6])
print(batch.shape, sorted(batch.keys(include_nested=True, leaves_only=True), key=str))
print("split:", [part.batch_size[0] for part in batch.split(4)], "index:", batch[2]["more", "b"].item())
print("stack:", torch.stack([batch, batch]).shape, "cat:", torch.cat([batch, batch]).shape, "view:", batch.view(2, 3)["a"].shape)
print("apply:", round(batch.apply(lambda value: value.float() + 1)["a"].sum().item(), 4))
policy = TensorDictSequential(
    TensorDictModule(nn.Linear(2, 4), in_keys=["a"], out_keys=["hidden"]),
    TensorDictModule(nn.Tanh(), in_keys=["hidden"], out_keys=["out"]),
)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for _ in range(20):
    loss = policy(batch.clone())["out"].pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
layer = nn.Linear(2, 1)
weights = TensorDict.from_module(layer)
with weights.detach().apply(torch.zeros_like).to_module(layer):
    print("with zeros:", layer(torch.ones(1, 2)).item())
print("parameters:", sum(p.numel() for p in TensorDictParams(weights.data.clone()).parameters()))
