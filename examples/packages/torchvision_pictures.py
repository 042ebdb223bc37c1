"""torchvision: changes pictures and boxes in random ways, and trains small networks of seven families."""

import numpy as np
import torch
import vision  # noqa: F401
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets, models, ops, transforms, tv_tensors, utils
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.transforms import v2

pixels = (np.arange(32 * 40 * 3) % 251).astype("uint8").reshape(32, 40, 3)
tensor = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def tell(name, result):
    """Print the shape, the mean and the spread of a result."""
    values = result.double()
    print(f"{name:12} {tuple(result.shape)} {values.mean():.4f} {values.std():.4f}")


changes = {
    "crop": transforms.RandomResizedCrop(16, antialias=True), "rotation": transforms.RandomRotation(30),
    "colors": transforms.ColorJitter(0.3, 0.3, 0.3, 0.1), "affine": transforms.RandomAffine(20, (0.1, 0.1), (0.8, 1.2)),
    "perspective": transforms.RandomPerspective(p=1.0), "blur": transforms.GaussianBlur(3),
    "equalize": transforms.RandomEqualize(1.0), "sharpness": transforms.RandomAdjustSharpness(2, 1.0),
    "automatic": transforms.RandAugment(), "gray": transforms.Grayscale(3), "elastic": transforms.ElasticTransform()}
for name, change in changes.items():
    torch.manual_seed(3)
    tell(name, change(tensor))
picture = transforms.Compose([
    transforms.Resize(24), transforms.CenterCrop(16), transforms.ToTensor(),
    transforms.Normalize([0.5] * 3, [0.2] * 3)])
tell("of an image", picture(Image.fromarray(pixels)))
torch.manual_seed(4)
boxes = tv_tensors.BoundingBoxes(torch.tensor([[1.0, 2, 10, 12]]), format="XYXY", canvas_size=(32, 40))
both = v2.Compose([v2.RandomRotation(15), v2.Resize((16, 20), antialias=True), v2.RandomHorizontalFlip(1.0)])
changed, moved = both(tv_tensors.Image(tensor), boxes)
tell("with boxes", changed)
print(type(moved).__name__, moved.canvas_size, [round(side, 3) for side in moved.flatten().tolist()])
tell("mixed", v2.MixUp(num_classes=5)(torch.rand(4, 3, 8, 8), torch.arange(4))[0])
tell("grid", utils.make_grid(torch.rand(6, 3, 8, 8), nrow=3))
tell("overlaps", ops.box_iou(torch.rand(3, 4).cumsum(1), torch.rand(2, 4).cumsum(1)))
loader = DataLoader(datasets.FakeData(4, (3, 8, 8), 3, transform=transforms.ToTensor()), 4)
tell("data", next(iter(loader))[0])

block = models.convnext.CNBlockConfig
families = {
    "resnet": lambda: models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5),
    "squeezenet": lambda: models.squeezenet1_1(num_classes=5, dropout=0.0),
    "mobilenet": lambda: models.mobilenet_v3_small(num_classes=5, dropout=0.0),
    "densenet": lambda: models.DenseNet(8, (2, 2), 16, num_classes=5),
    "transformer": lambda: models.VisionTransformer(64, 16, 2, 2, 32, 64, num_classes=5),
    "swin": lambda: models.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4], num_classes=5,
                                           stochastic_depth_prob=0.0),
    "convnext": lambda: models.ConvNeXt([block(16, 32, 1), block(32, None, 1)], num_classes=5)}
for name, make in families.items():
    torch.manual_seed(1)
    model, x, y = make(), torch.randn(8, 3, 64, 64), torch.arange(8) % 5
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.4f}")
    print(f"{name:12}", *losses)

model = families["resnet"]().eval()
for key, value in create_feature_extractor(model, {"layer2.0.relu_1": "middle", "flatten": "end"})(x[:1]).items():
    tell(key, value.detach())
