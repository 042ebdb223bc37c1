"""segmentation_models_pytorch: trains small networks of three kinds that label the pixels of pictures."""

import torch
import vision  # noqa: F401

# isort: split
import segmentation_models_pytorch as smp

torch.manual_seed(0)
x = torch.randn(4, 3, 64, 64)
labels = (x.mean(1, keepdim=True) > 0).long()
kinds = {"Unet": smp.Unet, "FPN": smp.FPN, "PSPNet": smp.PSPNet}
losses = {"Unet": smp.losses.DiceLoss("binary"), "FPN": smp.losses.JaccardLoss("binary"),
          "PSPNet": smp.losses.TverskyLoss("binary")}
for name, kind in kinds.items():
    torch.manual_seed(1)
    model = kind("resnet18", encoder_weights=None, classes=1).train()
    for part in model.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    steps = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = losses[name](model(x), labels.float())
        loss.backward()
        optimizer.step()
        steps.append(f"{loss.item():.4f}")
    counts = smp.metrics.get_stats(model(x).sigmoid(), labels, mode="binary", threshold=0.5)
    print(f"{name:8}", *steps, f"overlap {smp.metrics.iou_score(*counts, reduction='micro'):.2f}")
