"""vector-quantize-pytorch: learns codebooks for vectors, with averages, residuals, and finite scalar codes."""

import torch
from torch import nn
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize


def main() -> None:
    torch.manual_seed(14)
    x = torch.randn(4, 32, 8)
    encoder = nn.Linear(8, 8)
    decoder = nn.Linear(8, 8)
    quantizer = VectorQuantize(dim=8, codebook_size=16, decay=0.8, commitment_weight=0.5, kmeans_init=True)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    for step in range(31):
        codes, indices, commitment = quantizer(encoder(x))
        loss = nn.functional.mse_loss(decoder(codes), x) + commitment.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}   loss {loss.item():.5f}, {indices.unique().numel()} codes in use")

    residual = ResidualVQ(dim=8, num_quantizers=3, codebook_size=8)
    codes, indices, losses = residual(x)
    print("residual:", tuple(indices.shape), f"{losses.sum().item():.5f} {codes.norm().item():.5f}")
    codes, indices = FSQ([5, 3, 3])(x[..., :3])
    print("finite scalars:", indices[0, :6].tolist(), f"{codes.norm().item():.5f}")
    codes, indices, entropy = LFQ(codebook_size=16, dim=8, entropy_loss_weight=0.1)(x)
    print("no look-up:", indices[0, :6].tolist(), f"{entropy.item():.5f}")


if __name__ == "__main__":
    main()
