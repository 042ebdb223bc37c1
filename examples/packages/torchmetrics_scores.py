"""torchmetrics: trains a classifier and collects its scores batch by batch, in a collection of metrics.

"""

import torch
import torchmetrics.functional.audio
import torchmetrics.functional.clustering
import torchmetrics.functional.image
import torchmetrics.functional.retrieval
import torchmetrics.functional.text
from torch import nn
from torchmetrics import functional as metrics


def training() -> None:
    """A classifier whose scores are collected over the batches of an epoch."""
    x = torch.randn(120, 5)
    y = (x[:, :3] + 0.5 * torch.randn(120, 3)).argmax(1)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    scores = torchmetrics.MetricCollection(
        {
            "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=3),
            "f1": torchmetrics.F1Score(task="multiclass", num_classes=3, average="macro"),
            "auroc": torchmetrics.AUROC(task="multiclass", num_classes=3),
            "kappa": torchmetrics.CohenKappa(task="multiclass", num_classes=3),
            "calibration": torchmetrics.CalibrationError(task="multiclass", num_classes=3),
        }
    )
    mean = torchmetrics.MeanMetric()
    for epoch in range(3):
        scores.reset()
        mean.reset()
        for inputs, labels in zip(x.split(30), y.split(30)):
            logits = model(inputs)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scores.update(logits.softmax(-1), labels)
            mean.update(loss.detach(), weight=len(labels))
        values = ", ".join(f"{name} {value.item():.5f}" for name, value in scores.compute().items())
        print(f"epoch {epoch}: loss {mean.compute().item():.5f}, {values}")
    confusion = torchmetrics.ConfusionMatrix(task="multiclass", num_classes=3)
    print(confusion(model(x), y))


def single_metrics() -> None:
    """Metrics of random numbers, pictures and sentences."""
    a, b = torch.rand(40), torch.rand(40)
    print(f"r2 {metrics.r2_score(a, b):.5f}, spearman {metrics.spearman_corrcoef(a, b):.5f}")
    print(f"kendall {metrics.kendall_rank_corrcoef(a, b):.5f}, pearson {metrics.pearson_corrcoef(a, b):.5f}")
    print(f"rand score {metrics.clustering.rand_score((a * 4).long(), (b * 4).long()):.5f}")
    print(f"average precision {metrics.retrieval.retrieval_average_precision(a, b > 0.5):.5f}")
    print(f"ndcg {metrics.retrieval.retrieval_normalized_dcg(a, b > 0.5):.5f}")
    first = torch.rand(1, 3, 24, 24)
    second = 0.7 * first + 0.3 * torch.rand(1, 3, 24, 24)
    print(f"ssim {metrics.image.structural_similarity_index_measure(first, second, data_range=1.0):.5f}")
    print(f"psnr {metrics.image.peak_signal_noise_ratio(first, second, data_range=1.0):.5f}")
    print(f"si-sdr {metrics.audio.scale_invariant_signal_distortion_ratio(a, b):.5f}")
    print(f"word errors {metrics.text.word_error_rate(['a quick brown dog'], ['the quick brown fox']):.5f}")


def main() -> None:
    torch.manual_seed(8)
    training()
    single_metrics()


if __name__ == "__main__":
    main()
