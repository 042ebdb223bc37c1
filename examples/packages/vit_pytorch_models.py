"""vit_pytorch: trains small vision transformers of five kinds."""

import torch
import vision  # noqa: F401
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.deepvit import DeepViT

sizes = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "heads": 2, "mlp_dim": 64}
kinds = {
    "ViT": lambda: ViT(depth=2, **sizes), "SimpleViT": lambda: SimpleViT(depth=2, **sizes),
    "DeepViT": lambda: DeepViT(depth=2, **sizes), "CaiT": lambda: CaiT(depth=2, cls_depth=1, **sizes),
    "CCT": lambda: CCT(32, 32, n_conv_layers=1, num_layers=2, num_heads=2, mlp_ratio=2, num_classes=5,
                       positional_embedding="learnable", stochastic_depth_rate=0.0, dropout_rate=0.0)}
for name, make in kinds.items():
    torch.manual_seed(1)
    model, x, y = make(), torch.randn(8, 3, 32, 32), torch.arange(8) % 5
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.4f}")
    print(f"{name:10}", *losses)
