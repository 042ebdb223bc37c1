"""tensordict: maps functions over dictionaries of tensors, and trains an ensemble whose weights are one dictionary."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
points = torch.linspace(-1, 1, 24, dtype=torch.float64)[:, None]
data = TensorDict({"x": points, "y": {"wave": torch.sin(3 * points)}}, batch_size=[24])
print(data)


def summary(sample: TensorDict) -> TensorDict:
    wave = sample["y", "wave"]
    return TensorDict({"energy": (wave ** 2).sum(), "product": wave * sample["x"]}, batch_size=[])


mapped = torch.vmap(summary)(data)
print(mapped, f"energy {mapped['energy'].mean():.6f}, product {mapped['product'].sum():.6f}")

networks = [torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
            for _ in range(3)]
weights = TensorDict.from_modules(*networks, as_module=True)
skeleton = networks[0]


def predict(x: torch.Tensor, one: TensorDict) -> torch.Tensor:
    with one.to_module(skeleton):
        return skeleton(x)


optimizer = torch.optim.Adam(weights.parameters(), lr=0.03)
for step in range(61):
    predictions = torch.vmap(predict, (None, 0))(data["x"], weights)
    losses = ((predictions - data["y", "wave"]) ** 2).mean((1, 2))
    optimizer.zero_grad()
    losses.sum().backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3}  losses " + " ".join(f"{loss:.6f}" for loss in losses.tolist()))

chain = TensorDictSequential(
    TensorDictModule(networks[1], in_keys=["x"], out_keys=["hidden"]),
    TensorDictModule(torch.nn.Tanh(), in_keys=["hidden"], out_keys=["out"]))
print(sorted(chain(data.clone()).keys()))
gradient = torch.func.grad(lambda w: (predict(points, w) ** 2).mean())(weights[0].detach())
print(f"gradient: {gradient['2', 'bias'].item():.6f}, {gradient['0', 'weight'].norm().item():.6f}")
