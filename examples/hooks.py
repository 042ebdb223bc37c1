"""Hooks: functions that see gradients on their way and may change them. One use: weights that stay at zero."""

import torch
from torch import nn


def watching() -> None:
    print("watching")
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = x**2
    watcher = y.register_hook(lambda grad: print("  at y:", grad))
    x.register_hook(lambda grad: grad.clamp(-4, 4))
    x.register_post_accumulate_grad_hook(lambda leaf: print("  in x.grad:", leaf.grad))
    (y * torch.tensor([1.0, 1.0, 0.5])).sum().backward()

    watcher.remove()
    x.grad = None
    print("  the watcher is gone:")
    (x**2).sum().backward()


def on_nodes() -> None:
    print("\non a node of the graph")
    x = torch.tensor([0.25, 4.0], requires_grad=True)
    y = x.sqrt()
    y.grad_fn.register_prehook(lambda grads: print("  into", y.grad_fn.name(), grads[0]))
    y.grad_fn.register_hook(lambda inputs, outputs: print("  out of it", inputs[0]))
    y.sum().backward()


def keep_at_zero(layer: nn.Linear, keep: torch.Tensor) -> None:
    """Removes connections for good: their weights are zero, and no gradient reaches these weights."""
    with torch.no_grad():
        layer.weight *= keep
    layer.weight.register_hook(lambda grad: grad * keep)


def masked_layer() -> None:
    print("\na layer with half of its connections cut")
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 1))
    keep = (torch.rand(12, 8) < 0.5).float()
    keep_at_zero(model[0], keep)
    x = torch.randn(200, 8)
    target = (x[:, :1] * x[:, 1:2]).tanh() + x[:, 2:3]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    print("  connections kept:", int(keep.sum()), "of", keep.numel())
    for step in range(201):
        loss = nn.functional.mse_loss(model(x), target)
        if step % 50 == 0:
            alive = int(model[0].weight.count_nonzero())
            print(f"  step {step:3d}   loss {loss.item():.4f}   weights other than zero {alive}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("  the cut ones are still zero:", bool((model[0].weight[keep == 0] == 0).all()))


def main() -> None:
    watching()
    on_nodes()
    masked_layer()


if __name__ == "__main__":
    main()
