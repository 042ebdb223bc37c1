"""Random training programs that stop, save a checkpoint, and go on from the checkpoint in new objects.

A seed chooses the model, the optimizer, the schedule, and what else stands in the loop: a scaler, an average of the
weights, clipped gradients, autocast. `T` is the library.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from random import Random
from typing import Any

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD",
              "Adafactor")
SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 2, 0.5), "MultiStepLR": lambda s, o: s.MultiStepLR(o, [1, 3]),
    "LinearLR": lambda s, o: s.LinearLR(o), "PolynomialLR": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.1, 40, cycle_momentum=False),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="triangular2", cycle_momentum=False),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95 ** epoch),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 3), s.CosineAnnealingLR(o, 6)], [3]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o), s.ExponentialLR(o, 0.9)])}
BATCH, FEATURES, CLASSES = 4, 6, 3


@dataclass
class Training:
    """Everything that a training program keeps between two steps."""

    T: Any
    model: Any
    optimizer: Any
    schedule: Any
    average: Any
    scaler: Any
    generator: Any
    clips: bool
    smoothing: float

    def parts(self) -> dict[str, Any]:
        """What has a state."""
        parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self.schedule, "average": self.average,
                 "scaler": self.scaler}
        return {name: part for name, part in parts.items() if part is not None}


def layers(T: Any, random: Random) -> list[Any]:
    """Layers from FEATURES to 8 numbers. What stands before a normalisation has no bias, whose gradient is noise."""
    nn, dropout = T.nn, random.choice([0.0, 0.2])
    return random.choice([
        lambda: [nn.Linear(FEATURES, 8), random.choice([nn.ReLU, nn.GELU, nn.Tanh, nn.SiLU])(), nn.Dropout(dropout)],
        lambda: [nn.Linear(FEATURES, 8, bias=False), nn.BatchNorm1d(8, momentum=random.choice([0.1, None]))],
        lambda: [nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 8, 2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
                 nn.AdaptiveAvgPool2d(1), nn.Flatten()],
        lambda: [nn.Linear(FEATURES, 8), nn.LayerNorm(8), nn.PReLU()],
        lambda: [nn.utils.parametrizations.weight_norm(nn.Linear(FEATURES, 8)), nn.Softplus()],
        lambda: [nn.utils.parametrizations.spectral_norm(nn.Linear(FEATURES, 8))],
        lambda: [nn.Unflatten(1, (3, 2)), nn.Linear(2, 8),
                 nn.TransformerEncoderLayer(8, 2, 12, dropout, batch_first=True), nn.Flatten(), nn.LazyLinear(8)],
    ])()


def begun(T: Any, seed: int) -> Training:
    """A program before its first step."""
    random = Random(seed)
    T.manual_seed(seed)
    model = T.nn.Sequential(*layers(T, random), T.nn.Linear(8, CLASSES))
    model(T.ones(BATCH, FEATURES))
    kind, parameters = random.choice(OPTIMIZERS), list(model.parameters())
    options: dict[str, Any] = {"momentum": 0.9, "nesterov": True} if kind == "SGD" and random.random() < 0.5 else {}
    half, lr = len(parameters) // 2, random.choice([0.1, 0.01])
    groups = [{"params": parameters[:half], "lr": lr / 2}, {"params": parameters[half:]}]
    optimizer = getattr(T.optim, kind)(random.choice([parameters, groups]), lr=lr, **options)
    schedule = SCHEDULES[random.choice(sorted(SCHEDULES))](T.optim.lr_scheduler, optimizer)
    averaging = T.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    average = T.optim.swa_utils.AveragedModel(model, multi_avg_fn=averaging) if random.random() < 0.3 else None
    scaler = T.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3) if random.random() < 0.3 else None
    return Training(T, model, optimizer, schedule, average, scaler, T.Generator().manual_seed(seed),
                    random.random() < 0.5, random.choice([0.0, 0.1]))


def run(training: Training, steps: int) -> list[float]:
    """Make steps. Returns the losses and rates, and what the model and the average say at the end."""
    T, found = training.T, []
    for _ in range(steps):
        loss = step(training)
        found += [loss, *[group["lr"] for group in training.optimizer.param_groups]]
        training.schedule.step(*[loss] * (type(training.schedule).__name__ == "ReduceLROnPlateau"))
    for model in (training.model, training.average):
        if model is not None:
            model.eval()
            with T.no_grad():
                found += model(T.ones(BATCH, FEATURES)).flatten().tolist()
            model.train()
    return found


def step(training: Training) -> float:
    T, scaler = training.T, training.scaler
    training.optimizer.zero_grad()
    x = T.randn(BATCH, FEATURES, generator=training.generator)
    target = T.randint(0, CLASSES, (BATCH,), generator=training.generator)
    loss = T.nn.functional.cross_entropy(training.model(x), target, label_smoothing=training.smoothing)
    (loss if scaler is None else scaler.scale(loss)).backward()
    if scaler is not None:
        scaler.unscale_(training.optimizer)
    if training.clips:
        T.nn.utils.clip_grad_norm_(training.model.parameters(), 0.5)
    if scaler is None:
        training.optimizer.step()
    else:
        scaler.step(training.optimizer)
        scaler.update()
    if training.average is not None:
        training.average.update_parameters(training.model)
    return float(loss)


def saved(training: Training) -> io.BytesIO:
    """A checkpoint of a program."""
    file = io.BytesIO()
    states = {name: part.state_dict() for name, part in training.parts().items()}
    streams = {"own": training.generator.get_state(), "default": training.T.get_rng_state()}
    training.T.save({**states, "streams": streams}, file)
    file.seek(0)
    return file


def resumed(T: Any, seed: int, file: io.BytesIO) -> Training:
    """The program that goes on from a checkpoint, in new objects."""
    training, states = begun(T, seed), T.load(file)
    for name, part in training.parts().items():
        part.load_state_dict(states[name])
    training.generator.set_state(states["streams"]["own"])
    T.set_rng_state(states["streams"]["default"])
    return training
