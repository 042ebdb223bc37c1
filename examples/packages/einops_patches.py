"""einops: trains a small mixer of picture patches, whose shapes are written as patterns.

`rearrange`, `reduce` and `repeat` work on tensors, `Rearrange` and `Reduce` are layers, and `einsum` names its axes.
"""

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


def attention(tokens: torch.Tensor) -> torch.Tensor:
    """Self-attention of two heads without weights."""
    heads = rearrange(tokens, "b t (h c) -> b h t c", h=2)
    weights = einsum(heads, heads, "b h i c, b h j c -> b h i j").softmax(-1)
    return rearrange(einsum(weights, heads, "b h i j, b h j c -> b h i c"), "b h t c -> b t (h c)")


def main() -> None:
    torch.manual_seed(4)
    pictures = torch.rand(16, 3, 8, 8)
    target = reduce(pictures[:, 0], "b (h s) (w t) -> b", "max", s=4, t=4)
    patches = Rearrange("b c (h s) (w t) -> b (h w) (c s t)", s=2, t=2)
    mix = EinMix("b t c -> b u c", weight_shape="t u", bias_shape="u", t=16, u=8)
    model = nn.Sequential(patches, nn.Linear(12, 10), mix, nn.GELU(), Reduce("b t c -> b c", "mean"), nn.Linear(10, 1))
    print(model)

    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for step in range(60):
        loss = (rearrange(model(pictures), "b 1 -> b") - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:2d}   loss {loss.item():.6f}")

    attended = attention(rearrange(pictures, "b c h w -> b (h w) (c 1)").repeat(1, 1, 2))
    print("attended:", tuple(attended.shape), f"{attended.std().item():.6f}")
    packed, shapes = pack([pictures[0], torch.ones(3, 5)], "c *")
    print("packed:", tuple(packed.shape), [tuple(part.shape) for part in unpack(packed, shapes, "c *")])
    print("tiled:", tuple(repeat(target, "b -> b h w", h=2, w=3).shape), f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
