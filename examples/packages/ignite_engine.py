"""ignite: an engine trains a classifier, with events, scores, schedules and a checkpoint."""

import tempfile

import torch
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, LinearCyclicalScheduler
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, Recall, RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(120, 4)
    data = DataLoader(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long()), batch_size=20)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    loss = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, optimizer, loss)
    RunningAverage(output_transform=float).attach(trainer, "loss")
    recall = Recall(average=False)
    scores = {"accuracy": Accuracy(), "loss": Loss(loss), "confusion": ConfusionMatrix(2), "recall": recall,
              "f1": (Precision(average=False) * recall * 2 / (Precision(average=False) + recall)).mean()}
    evaluator = create_supervised_evaluator(model, scores)
    trainer.add_event_handler(Events.ITERATION_STARTED, LinearCyclicalScheduler(optimizer, "lr", 0.02, 0.005, 12))
    stop = EarlyStopping(3, lambda engine: -engine.state.metrics["loss"], trainer)
    evaluator.add_event_handler(Events.COMPLETED, stop)

    @trainer.on(Events.EPOCH_COMPLETED)
    def _(engine: Engine) -> None:
        found = evaluator.run(data).metrics
        print(f"epoch {engine.state.epoch}   running {engine.state.metrics['loss']:.5f}, loss {found['loss']:.5f}, "
              f"accuracy {found['accuracy']:.4f}, F1 {found['f1']:.4f}, {found['confusion'].tolist()}")

    with tempfile.TemporaryDirectory() as folder:
        keep = Checkpoint({"model": model, "optimizer": optimizer, "trainer": trainer}, DiskSaver(folder), n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED(every=2), keep)
        trainer.run(data, max_epochs=5)
        state = torch.load(keep.last_checkpoint)
    print(sorted(state), f"{state['model']['0.weight'].norm():.5f}")


if __name__ == "__main__":
    main()
