"""fvcore: focal losses, boxes and schedules of the package, the table of a network, and weights to a file."""

import tempfile

import torch
from fvcore.common.checkpoint import Checkpointer
from fvcore.common.param_scheduler import CompositeParamScheduler, CosineParamScheduler, LinearParamScheduler
from fvcore.nn import giou_loss, parameter_count, parameter_count_table, sigmoid_focal_loss, smooth_l1_loss
from fvcore.nn.precise_bn import update_bn_stats
from fvcore.nn.weight_init import c2_msra_fill, c2_xavier_fill
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))
    c2_msra_fill(network[0])
    c2_xavier_fill(network[4])
    print(parameter_count_table(network), parameter_count(network)[""])
    schedule = CompositeParamScheduler(
        [LinearParamScheduler(0.1, 1.0), CosineParamScheduler(1.0, 0.0)], [0.2, 0.8], ["rescaled", "rescaled"])
    x, boxes = torch.randn(8, 3, 8, 8), torch.rand(8, 4).cumsum(1)
    for step in range(5):
        out = network(x)
        loss = sigmoid_focal_loss(out, (boxes > 1).float(), reduction="mean") + smooth_l1_loss(out, boxes, 0.5, "mean")
        loss = loss + giou_loss(out.abs().cumsum(1), boxes, "mean")
        network.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter -= 0.1 * schedule(step / 5) * parameter.grad
        print(f"step {step}   loss {loss.item():.5f}, rate {0.1 * schedule(step / 5):.4f}")

    update_bn_stats(network, [torch.randn(8, 3, 8, 8) for _ in range(4)], 4)
    print("statistics", [round(mean, 5) for mean in network[1].running_mean.tolist()])
    with tempfile.TemporaryDirectory() as folder:
        Checkpointer(network, folder).save("weights", step=5)
        nn.init.zeros_(network[4].weight)
        rest = Checkpointer(network, folder).load(f"{folder}/weights.pth")
    print("loaded", rest, f"{network[4].weight.norm():.5f}")


if __name__ == "__main__":
    main()
