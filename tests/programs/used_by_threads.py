"""More that threads share or use at once: compiled functions, profiles, random streams, training, transforms, files.

`KINDS` has all that there is, also that of `shared_by_threads`.
"""

from __future__ import annotations

import io
import random
from typing import Any

import retrograd as torch

from .shared_by_threads import (
    THREADS,
    BackwardHooks,
    Hooks,
    Modes,
    ModuleHooks,
    OneGraph,
    OneLeaf,
    SavedTensorHooks,
    Scalars,
    Shared,
    WrittenViews,
    exactly,
    whole_numbers,
)


class CompiledFunction(Shared):
    """A compiled function that all threads call, with the same shape and with others, and gradients through it."""

    def __init__(self, draw: random.Random) -> None:
        self.w = whole_numbers(draw, 3).requires_grad_()
        self.f = lambda x: ((x * self.w + 1) * x).sum(0)
        self.compiled = torch.compile(self.f, backend="numpy")
        self.inputs = [whole_numbers(draw, rows, 3) for rows in (2, 2, 2, 3, 4)]
        self.expected = [self.f(x).detach() for x in self.inputs]
        self.totals: list[Any] = []

    def act(self, me: int, draw: random.Random) -> None:
        i = draw.randrange(len(self.inputs))
        x = self.inputs[i]
        result = self.compiled(x)
        exactly(result.detach(), self.expected[i])
        if draw.random() < 0.5:
            result.sum().backward()
            self.totals.append((x * x).sum(0))
            exactly(result.detach(), self.expected[i])

    def check(self) -> None:
        if self.totals:
            exactly(self.w.grad, sum(self.totals[1:], self.totals[0]))


class CompiledSteps(Shared):
    """A compiled training step of a model of each thread."""

    def __init__(self, draw: random.Random) -> None:
        self.x, self.target = whole_numbers(draw, 4, 2), whole_numbers(draw, 4, 1)
        self.models = [self._model(torch) for _ in range(THREADS + 1)]
        self.steps = [self._step(*pair) for pair in self.models]
        self.compiled = [torch.compile(step, backend="numpy") for step in self.steps]
        self.losses = [self.steps[-1]() for _ in range(40)]
        self.places = [0] * THREADS

    def _model(self, torch: Any) -> Any:
        model = torch.nn.Linear(2, 1, dtype=torch.float64)
        with torch.no_grad():
            model.weight.fill_(0.5)
            model.bias.fill_(0.25)
        return model, torch.optim.SGD(model.parameters(), lr=2.0 ** -6)

    def _step(self, model: Any, optimizer: Any) -> Any:
        def step() -> Any:
            optimizer.zero_grad()
            loss = ((model(self.x) - self.target) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step

    def act(self, me: int, draw: random.Random) -> None:
        place = self.places[me]
        if place < len(self.losses):
            self.places[me] += 1
            torch.testing.assert_close(self.compiled[me](), self.losses[place], rtol=1e-12, atol=0)


class Profiles(Shared):
    """Each thread profiles its own operations, and only these."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 4).requires_grad_()

    def act(self, me: int, draw: random.Random) -> None:
        times = draw.randint(1, 4)
        if draw.random() < 0.5:
            with torch.autograd.profiler.profile() as profile:
                for _ in range(times):
                    (self.x * 2).sum()
            counts = {event.key: event.count for event in profile.key_averages()}
            assert counts == {"aten::mul": times, "aten::sum": times}, counts
        else:
            for _ in range(times):
                exactly((self.x * 2).detach(), self.x.detach() + self.x.detach())


class OwnStreams(Shared):
    """A stream of random numbers for each thread: the numbers of its seed, in order."""

    def __init__(self, draw: random.Random) -> None:
        seeds = [draw.randrange(1 << 30) for _ in range(THREADS)]
        self.streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.expected = [torch.Generator().manual_seed(seed) for seed in seeds]

    def act(self, me: int, draw: random.Random) -> None:
        count = draw.choice((1, 3, 17, 700))
        make = draw.choice((torch.rand, torch.randn, torch.randperm))
        exactly(make(count, generator=self.streams[me]), make(count, generator=self.expected[me]))


class OneStream(Shared):
    """One stream of random numbers: each number is drawn once, by some thread."""

    def __init__(self, draw: random.Random) -> None:
        seed = draw.randrange(1 << 30)
        self.stream, self.alone = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
        self.drawn: list[list[float]] = []

    def act(self, me: int, draw: random.Random) -> None:
        self.drawn.append(torch.rand(draw.choice((1, 2, 5, 300, 1300)), generator=self.stream).tolist())

    def check(self) -> None:
        drawn = sorted(number for numbers in self.drawn for number in numbers)
        assert drawn == sorted(torch.rand(len(drawn), generator=self.alone).tolist())


class DefaultStream(OneStream):
    """The default stream. Nothing else may draw from it meanwhile."""

    def __init__(self, draw: random.Random) -> None:
        self.seed = draw.randrange(1 << 30)

    def start(self) -> None:
        self.stream, self.alone = torch.manual_seed(self.seed), torch.Generator().manual_seed(self.seed)
        self.drawn = []

    def act(self, me: int, draw: random.Random) -> None:
        count = draw.choice((1, 2, 5, 300, 1300))
        self.drawn.append((torch.rand(count) if draw.random() < 0.5 else torch.zeros(count).uniform_()).tolist())


class Optimizers(Shared):
    """Each thread trains a model of its own."""

    def __init__(self, draw: random.Random) -> None:
        self.kinds = (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop)
        self.x = whole_numbers(draw, 4, 3)
        self.runs: list[Any] = []
        for i in range(THREADS):
            self.runs.append([self._start(i), self._start(i)])

    def _start(self, i: int) -> Any:
        parameters = [torch.full((3,), 0.5, dtype=torch.float64, requires_grad=True),
                      torch.full((), 0.25, dtype=torch.float64, requires_grad=True)]
        return parameters, self.kinds[i % len(self.kinds)](parameters, lr=0.125)

    def _step(self, run: Any) -> Any:
        (weight, bias), optimizer = run
        optimizer.zero_grad()
        loss = ((self.x @ weight + bias) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def act(self, me: int, draw: random.Random) -> None:
        one, other = self.runs[me]
        exactly(self._step(one), self._step(other))
        for a, b in zip(one[0], other[0], strict=True):
            exactly(a.detach(), b.detach())


class Loading(Shared):
    """Each thread reads the data set with a loader of its own."""

    def __init__(self, draw: random.Random) -> None:
        self.numbers = whole_numbers(draw, 20, 2)
        self.data = torch.utils.data.TensorDataset(self.numbers, torch.arange(20))

    def act(self, me: int, draw: random.Random) -> None:
        loader = torch.utils.data.DataLoader(self.data, batch_size=6, shuffle=True,
                                             generator=torch.Generator().manual_seed(draw.randrange(1 << 30)))
        seen = []
        for rows, places in loader:
            exactly(rows, self.numbers[places])
            seen += places.tolist()
        assert sorted(seen) == [*range(20)]


class Transforms(Shared):
    """Transforms of one function, nested, in each thread."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 4, 3)
        self.w = whole_numbers(draw, 3).requires_grad_()

    def act(self, me: int, draw: random.Random) -> None:
        func, w = torch.func, self.w.detach()
        k = draw.randint(1, 3)
        function = lambda row: (row ** 3 * self.w * k).sum()           # noqa: E731
        way = draw.randrange(4)
        if way == 0:
            exactly(func.vmap(func.grad(function))(self.x).detach(), 3 * self.x ** 2 * w * k)
        elif way == 1:
            _, found = func.jvp(function, (self.x[0],), (self.x[1],))
            exactly(found.detach(), (3 * self.x[0] ** 2 * w * k * self.x[1]).sum())
        elif way == 2:
            exactly(func.hessian(function)(self.x[0]).detach(), torch.diag(6 * self.x[0] * w * k))
        else:
            exactly(func.jacrev(lambda row: row ** 2 * k)(self.x[0]), torch.diag(2 * self.x[0] * k))


class Saving(Shared):
    """Threads save and load what they share."""

    def __init__(self, draw: random.Random) -> None:
        self.module = torch.nn.Sequential(torch.nn.Linear(3, 2, dtype=torch.float64), torch.nn.BatchNorm1d(2))
        self.x = whole_numbers(draw, 2, 3)

    def act(self, me: int, draw: random.Random) -> None:
        file = io.BytesIO()
        torch.save({"state": self.module.state_dict(), "x": self.x, "me": me}, file)
        file.seek(0)
        found = torch.load(file)
        assert found["me"] == me
        exactly(found["x"], self.x)
        for name, value in self.module.state_dict().items():
            exactly(found["state"][name], value)


KINDS: tuple[type[Shared], ...] = (
    OneGraph, OneLeaf, Hooks, WrittenViews, ModuleHooks, BackwardHooks, Modes, Scalars, SavedTensorHooks,
    CompiledFunction, CompiledSteps, Profiles, OwnStreams, OneStream, DefaultStream, Optimizers, Loading, Transforms,
    Saving)
