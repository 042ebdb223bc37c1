"""pytorch-msssim: restores a picture by structural similarity, at one scale and at several."""

import torch
from pytorch_msssim import MS_SSIM, SSIM, ms_ssim, ssim


def main() -> None:
    torch.manual_seed(8)
    axis = torch.linspace(0, 6, 168)
    picture = (torch.sin(axis[:, None] * torch.tensor([1.0, 2.0, 3.0])[:, None, None] + axis) / 2 + 0.5)[None]
    noisy = (picture + 0.2 * torch.randn_like(picture)).clamp(0, 1)
    print(f"one scale      {ssim(noisy, picture, data_range=1, size_average=False, win_size=7).item():.5f}")
    print(f"several scales {ms_ssim(noisy, picture, data_range=1, size_average=False).item():.5f}")
    volume = torch.rand(1, 1, 14, 14, 14)
    print(f"a volume       {SSIM(data_range=1.0, channel=1, spatial_dims=3)(volume, volume.flip(-1)).item():.5f}")
    for measure in (SSIM(data_range=1.0, nonnegative_ssim=True), MS_SSIM(data_range=1.0, win_size=7)):
        restored = noisy.clone().requires_grad_()
        optimizer = torch.optim.SGD([restored], lr=200.0)
        for _ in range(5):
            loss = 1 - measure(restored, picture)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        error = (restored - picture).square().mean()
        print(f"{type(measure).__name__:8} loss {loss.item():.5f}, squared error {error.item():.5f}")


if __name__ == "__main__":
    main()
