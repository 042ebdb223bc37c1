"""The training steps of the programs in `examples/`. `workloads` explains the form.

A program is loaded once for each package, and its own functions are timed, so the figures are those of the program as
it stands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.workloads import Run, workload

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGET = 1.2
# The modules that the programs import: a package that loads them late would load them by the name `torch` instead.
_IMPORTED = ("nn", "nn.functional", "optim", "utils.data", "distributions")


def program(name: str, torch: Any) -> Any:
    """The module of a program, in which `import torch` meant this package."""
    loader = SourceFileLoader(f"{torch.__name__}_{name}", str(EXAMPLES / f"{name}.py"))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    with _meaning(torch):
        loader.exec_module(module)
    return module


@contextmanager
def _meaning(torch: ModuleType) -> Iterator[None]:
    """`import torch` means this package inside the block."""
    package = torch.__name__
    for name in _IMPORTED:
        import_module(f"{package}.{name}")
    before = {name: module for name, module in sys.modules.items() if _is_below(name, "torch")}
    own = {name: module for name, module in sys.modules.items() if _is_below(name, package)}
    for name in before:
        del sys.modules[name]
    sys.modules.update((f"torch{name.removeprefix(package)}", module) for name, module in own.items())
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _is_below(name, "torch")]:
            del sys.modules[name]
        sys.modules.update(before)


def _is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@workload("classifier", "a training step of examples/image_classifier.py", target=TARGET, rounds=15)
def classifier(torch: Any) -> Run:
    p = program("image_classifier", torch)
    model, images, digits = p.Classifier(), torch.randn(64, 1, 8, 8), torch.randint(10, (64,))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=0.01)
    return lambda: p.train_step(model, optimizer, images, digits)


@workload("vae", "a training step of examples/vae.py", target=TARGET)
def vae(torch: Any) -> Run:
    p = program("vae", torch)
    model, images = p.VAE(), torch.rand(100, 8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    return lambda: p.train_step(model, optimizer, images)


@workload("gan", "a step of both networks of examples/gan.py", target=TARGET)
def gan(torch: Any) -> Run:
    game = program("gan", torch).Game()
    return lambda: game.step()[0]


@workload("words", "a training step of examples/word_language_model.py", target=TARGET, rounds=15)
def words(torch: Any) -> Run:
    p = program("word_language_model", torch)
    corpus = p.Corpus(200, seed=0)
    model = p.LanguageModel(len(corpus.words))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    (chunk, following), state = corpus.chunks()[0], model.start(p.COLUMNS)
    return lambda: p.train_step(model, optimizer, chunk, following, state)[0]


@workload("letters", "a training step of examples/char_transformer.py", target=TARGET, rounds=15)
def letters(torch: Any) -> Run:
    p = program("char_transformer", torch)
    model = p.CharTransformer(len(p.LETTERS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
    pieces = torch.randint(len(p.LETTERS), (16, p.CONTEXT + 1))
    return lambda: p.train_step(model, optimizer, pieces[:, :-1], pieces[:, 1:])


@workload("reinforce", "an episode and a training step of examples/reinforce.py", target=TARGET, rounds=15)
def reinforce(torch: Any) -> Run:
    p = program("reinforce", torch)
    policy, cart = p.Policy(), p.CartPole()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-9)

    def run() -> Any:
        torch.manual_seed(0)
        return p.train_step(policy, optimizer, p.episode(policy, cart))

    return run


@workload("actor-critic", "ten moves and a training step of examples/actor_critic.py", target=TARGET, rounds=15)
def actor_critic(torch: Any) -> Run:
    p = program("actor_critic", torch)
    model = p.ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    return lambda: p.train_step(model, optimizer, balls=32, steps=10)[0]


@workload("gcn", "a training step of examples/gcn.py", target=TARGET)
def gcn(torch: Any) -> Run:
    p = program("gcn", torch)
    features, adjacency, labels = p.graph()
    model, known = p.GCN(), torch.arange(0, len(labels), 12)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    return lambda: p.train_step(model, optimizer, features, adjacency, labels, known)


@workload("time-series", "a training step of examples/time_series.py", target=TARGET, rounds=15)
def time_series(torch: Any) -> Run:
    p = program("time_series", torch)
    model, series = p.Forecaster(), p.waves(20, p.LENGTH)
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-6)
    return lambda: p.train_step(model, optimizer, series)


@workload("siamese", "a training step of examples/siamese.py", target=TARGET, rounds=15)
def siamese(torch: Any) -> Run:
    p = program("siamese", torch)
    model, images, digits = p.Triplets(), *p.load()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9, nesterov=True)
    places = p.triplets(digits, 32)
    return lambda: p.train_step(model, optimizer, images, places)


@workload("neural-ode", "a training step of examples/neural_ode.py", target=TARGET, rounds=9)
def neural_ode(torch: Any) -> Run:
    p = program("neural_ode", torch)
    model, path, times = p.NeuralODE(), torch.randn(10, 2, 2), torch.linspace(0, 1.8, 10).tolist()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-6)
    return lambda: p.train_step(model, optimizer, path, times)
