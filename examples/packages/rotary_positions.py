"""rotary-embedding-torch: turns queries and keys by their positions, so that their products know distances only."""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb


def main() -> None:
    torch.manual_seed(5)
    rotary = RotaryEmbedding(dim=8, learned_freq=True)
    query, key = torch.randn(2, 1, 2, 6, 16).unbind(0)
    turned, other = rotary.rotate_queries_or_keys(query), rotary.rotate_queries_or_keys(key)
    loss = (turned @ other.mT).square().mean()
    loss.backward()
    print(f"loss {loss.item():.6f}, slopes {[round(slope, 5) for slope in rotary.freqs.grad.tolist()]}")

    same = torch.ones(1, 1, 6, 16)
    products = rotary.rotate_queries_or_keys(same) @ rotary.rotate_queries_or_keys(same).mT
    print("by distance:", [round(value, 5) for value in products[0, 0, 0].tolist()])
    shifted = rotary.rotate_queries_or_keys(same, offset=3) @ rotary.rotate_queries_or_keys(same, offset=3).mT
    print("the same further on:", torch.allclose(products, shifted, atol=1e-4))

    scaled = RotaryEmbedding(dim=8, use_xpos=True)
    left, right = scaled.rotate_queries_and_keys(query, key)
    print(f"scaled: {left.std().item():.6f} {right.std().item():.6f}")
    picture = RotaryEmbedding(dim=4, freqs_for="pixel", max_freq=10)
    frequencies = picture.get_axial_freqs(3, 4)
    pixels = apply_rotary_emb(frequencies, torch.randn(1, 3, 4, 8))
    print("pixels:", tuple(frequencies.shape), f"{pixels.sum().item():.5f}")


if __name__ == "__main__":
    main()
