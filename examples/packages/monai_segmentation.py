"""monai: small networks for volumes learn to mark a ball, with the losses and scores of the package."""

import torch
from monai.data import DataLoader, Dataset
from monai.inferers import SlidingWindowInferer
from monai.losses import DiceCELoss, FocalLoss, TverskyLoss
from monai.metrics import DiceMetric, compute_hausdorff_distance
from monai.networks.nets import UNETR, SegResNet, UNet, ViT
from monai.transforms import Compose, EnsureChannelFirstd, RandFlipd, RandRotate90d, ScaleIntensityd
from monai.utils import set_determinism


def ball(size: int, center: torch.Tensor) -> dict[str, torch.Tensor]:
    """A volume with noise, and where a ball is in it."""
    grid = torch.stack(torch.meshgrid(*[torch.arange(size)] * 3, indexing="ij"))
    inside = ((grid - center.view(3, 1, 1, 1)).square().sum(0) < 9).float()
    return {"image": inside + 0.3 * torch.randn(inside.shape), "label": inside}


def main() -> None:
    set_determinism(0)
    keys = ["image", "label"]
    steps = Compose([EnsureChannelFirstd(keys, channel_dim="no_channel"), ScaleIntensityd("image"),
                     RandFlipd(keys, 0.5, spatial_axis=0), RandRotate90d(keys, 0.5)])
    steps.set_random_state(0)
    data = DataLoader(Dataset([ball(16, torch.randint(4, 12, (3,))) for _ in range(6)], steps), batch_size=2)
    network = UNet(3, 1, 2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
    loss_of, optimizer = DiceCELoss(to_onehot_y=True, softmax=True), torch.optim.Adam(network.parameters(), lr=0.01)
    for epoch in range(2):
        for batch in data:
            loss = loss_of(network(batch["image"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}   loss {loss.item():.5f}")

    score = DiceMetric(include_background=False)
    network.eval()
    with torch.no_grad():
        out = SlidingWindowInferer(8, overlap=0.5)(batch["image"].as_tensor(), network)
    marked = out.argmax(1, keepdim=True).float()
    score(marked, batch["label"].as_tensor())
    print(f"dice {score.aggregate().item():.5f}, window by window {out.std():.5f}")
    distances = compute_hausdorff_distance(marked, batch["label"].as_tensor(), include_background=True)
    print("distances", [round(x, 4) for x in distances[:, 0].tolist()])
    for other in (FocalLoss(to_onehot_y=True), TverskyLoss(to_onehot_y=True, softmax=True)):
        print(f"{type(other).__name__}: {other(out, batch['label'].as_tensor()).item():.5f}")
    volume = torch.randn(1, 1, 32, 32, 32)
    transformer = UNETR(1, 2, (32, 32, 32), feature_size=4, hidden_size=24, mlp_dim=48, num_heads=4)
    residual = SegResNet(in_channels=1, init_filters=8, blocks_down=(1, 1), blocks_up=(1,))
    for large in (transformer, residual):
        large(volume).square().mean().backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in large.parameters() if p.grad is not None])
        print(f"{type(large).__name__}: gradient {norm.item():.4f}")
    print(f"ViT: {ViT(1, (32, 32, 32), (8, 8, 8), 24, 48, 2, 4)(volume)[0].std().item():.5f}")


if __name__ == "__main__":
    main()
