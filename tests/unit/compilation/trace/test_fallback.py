"""Programs that cannot be traced run as they are: eager's results, one warning with the reason and the line."""

from __future__ import annotations

import functools
import gc
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd import nn
from retrograd.compilation.repeat.recipe import Recipe
from retrograd.compilation.trace.traced import Traced


def item(x: Any) -> Any:
    return x * x.sum().item()


def to_numpy(x: Any) -> Any:
    return x + float(x.numpy().max())


def by_numpy(x: Any) -> Any:
    return torch.from_numpy(np.asarray(np.sin(x.detach())))


def listed(x: Any) -> Any:
    return x * x.tolist()[0]


def number(x: Any) -> Any:
    return x + float(x[0]) + int(x[1] > 0)


def places(x: Any) -> Any:
    return x[x > 0], x.nonzero(), torch.unique(x)


def shown(x: Any) -> Any:
    return x + len(str(x))


def printed(x: Any) -> Any:
    print("seen")
    return x + 1


def timed(x: Any) -> Any:
    return x * (time.time() > 0)


def seeded(x: Any) -> Any:
    torch.manual_seed(3)
    return x + torch.rand(2)


LOOKING = (item, to_numpy, by_numpy, listed, number, places, shown, printed, timed, seeded)


def alike(a: Any, b: Any) -> bool:
    """Whether two results are alike."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(torch.equal(a, b)) and a.dtype == b.dtype and type(a._array) is np.ndarray


def no_traced_left() -> bool:
    """Whether no traced array is alive."""
    gc.collect()
    return not [thing for thing in gc.get_objects() if type(thing) is Traced]


@pytest.mark.parametrize("function", LOOKING)
def test_what_looks_at_numbers(function: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3):
            x = torch.tensor([1.0 - i, 2.0])
            assert alike(compiled(x), function(x))
    said = [str(w.message) for w in caught]
    assert len(said) == 1
    assert said[0].startswith(f"torch.compile runs {function.__name__} as it is, since ")
    assert capsys.readouterr().out == ("seen\n" * 6 if function is printed else "")
    assert no_traced_left()


def test_results_lie_as_they_do_without_a_trace() -> None:
    def laid_out(x: Any, y: Any) -> Any:
        before = torch.where(x > y, x, y)
        x.sum().item()
        return before, torch.where(x > y, x, y), x + y, torch.lerp(x, y, 0.5), torch.addcmul(x, y, y), x.mul(y).sin()

    x, y = torch.randn(3, 4).t(), torch.randn(4, 3)
    compiled = torch.compile(laid_out)
    for _ in range(2):
        with warnings.catch_warnings(action="ignore"):
            found = compiled(x, y)
        assert [t.stride() for t in found] == [t.stride() for t in laid_out(x, y)] == [(1, 4)] * 6


@pytest.mark.parametrize("function", LOOKING)
def test_the_whole_graph_is_asked_for(function: Callable[..., Any]) -> None:
    p = torch.ones(2)

    def wrapped(x: Any) -> Any:
        p.add_(1)
        return function(x)

    compiled = torch.compile(wrapped, fullgraph=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="^torch.compile with fullgraph=True found that wrapped cannot be"):
            compiled(torch.tensor([1.0, 2.0]))
        assert p.tolist() == [1, 1]
    assert no_traced_left()


@pytest.mark.parametrize("fails", [0, 1])
def test_errors_in_the_function(fails: int) -> None:
    weight = torch.ones(3, requires_grad=True)

    def function(x: Any, i: Any) -> Any:
        weight.data.add_(1)
        (weight * 2).sum().backward()
        return x[i] * weight

    for compiling in (torch.compile, lambda f: f):
        run = compiling(function)
        with torch.no_grad():
            weight.fill_(1)
        weight.grad = None
        for call in range(3):
            x, i = torch.ones(2, 3), torch.tensor([0, 5 if call == fails else 1])
            if call == fails:
                with pytest.raises(IndexError):
                    run(x, i)
            else:
                run(x, i)
        assert weight.tolist() == [4, 4, 4]
        assert weight.grad.tolist() == [6, 6, 6]
    assert no_traced_left()


class Callee:
    """Ways to call a function."""

    scale = 3

    def __call__(self, x: Any) -> Any:
        return x * self.scale

    @torch.compile
    def method(self, x: Any) -> Any:
        return x * self.scale

    @staticmethod
    @torch.compile
    def static(x: Any) -> Any:
        return x * 3

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.scale


def test_kinds_of_functions() -> None:
    one = Callee()
    kinds = [torch.compile(one), one.method, Callee.static, torch.compile(Callee.of_class), torch.compile(one.of_class),
             torch.compile(functools.partial(lambda y, x: x * y, 3)), torch.compile(lambda x: x * 3)]
    for compiled in kinds:
        for i in range(3):
            assert compiled(torch.full((2,), float(i))).tolist() == [3 * i, 3 * i]
    one.scale = 5
    assert one.method(torch.ones(1)).tolist() == [5]


def test_generators_and_recursion() -> None:
    def parts(x: Any) -> Any:
        yield x + 1
        yield x + 2

    def power(x: Any, n: int) -> Any:
        return x if n == 0 else x * power(x, n - 1)

    compiled, raised = torch.compile(parts), torch.compile(power)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(3):
            assert [part.item() for part in compiled(torch.tensor(float(i)))] == [i + 1, i + 2]
            assert raised(torch.tensor(2.0), 3).item() == 16
    assert no_traced_left()


def test_compiled_functions_in_each_other() -> None:
    inner = torch.compile(lambda x: x.sin())
    outer = torch.compile(lambda x: inner(x) + inner(x * 2))
    for _ in range(3):
        x = torch.randn(3)
        assert torch.allclose(outer(x), x.sin() + (x * 2).sin())
        assert torch.allclose(inner(x), x.sin())


def test_threads() -> None:
    model = nn.Linear(3, 3)
    compiled, found = torch.compile(lambda x: model(x).sin()), []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(50):
            x = torch.randn(4, 3, generator=generator)
            found.append((compiled(x), x))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 200
    assert all([torch.allclose(y, model(x).sin(), rtol=1e-5, atol=1e-6) for y, x in found])


def test_is_compiling() -> None:
    @torch.compiler.disable
    def outside(x: Any) -> Any:
        return x * 2

    def function(x: Any) -> Any:
        return (x + 1) if torch.compiler.is_compiling() else (x - 1)

    compiled = torch.compile(function)
    assert [compiled(torch.zeros(1)).item() for _ in range(3)] == [1, 1, 1]
    assert function(torch.zeros(1)).item() == -1
    with pytest.warns(UserWarning, match="calls outside, which torch.compiler.disable keeps out"):
        assert torch.compile(lambda x: outside(x) + 1)(torch.ones(1)).item() == 3


def test_recompilations() -> None:
    compiled = torch.compile(lambda x, n: x * n)
    for n in range(8):
        assert compiled(torch.ones(1), n).item() == n
    with pytest.warns(UserWarning, match="it was traced 8 times, and changes in each call: argument n was 7 and is 8"):
        assert compiled(torch.ones(1), 8).item() == 8
    assert [compiled(torch.ones(1), n).item() for n in range(12)] == [*range(12)]


def test_calls_that_a_trace_serves_repeat_it_after_the_last_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated: list[Any] = []
    repeat = Recipe.repeat

    def noted(self: Any, inputs: Any, args: Any, kwargs: Any) -> Any:
        repeated.append(args[1])
        return repeat(self, inputs, args, kwargs)

    monkeypatch.setattr(Recipe, "repeat", noted)
    compiled = torch.compile(lambda x, n: x * n)
    for n in range(8):
        compiled(torch.ones(1), n)
    with pytest.warns(UserWarning, match="traces <lambda> no more, since it was traced 8 times"):
        compiled(torch.ones(1), 8)
    assert [compiled(torch.ones(1), n).item() for n in (3, 9, 7, 8)] == [3, 9, 7, 8]
    assert repeated == [3, 7]
    for n in range(100, 200):                              # which the traces do not serve
        compiled(torch.ones(1), n)
    assert compiled(torch.ones(1), 3).item() == 3
    assert repeated == [3, 7]                              # so they were let go


def test_modules() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    compiled = torch.compile(model)
    x = torch.ones(3, 2)
    for mode in (True, False, True):
        compiled.train(mode)
        for _ in range(2):
            state = torch.get_rng_state()
            found = compiled(x)
            torch.set_rng_state(state)
            assert torch.allclose(found, model(x))
    compiled.load_state_dict({name: torch.zeros_like(value) for name, value in compiled.state_dict().items()})
    assert compiled(x).abs().sum().item() == 0
    compiled.double().eval()
    assert torch.equal(compiled(x.double()), model(x.double()))


def test_memory_stays() -> None:
    weight = torch.ones(1000, requires_grad=True)

    def step(x: Any) -> Any:
        weight.grad = None
        loss = (weight * x).sin().sum()
        loss.backward()
        with torch.no_grad():
            weight.sub_(weight.grad)
        return loss

    compiled = torch.compile(step)
    for _ in range(20):
        compiled(torch.ones(1000))
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        compiled(torch.ones(1000))
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_the_graph_of_a_run_that_was_given_up() -> None:
    def maximum(x: Any, y: Any) -> Any:
        found = torch.maximum(x.unbind(0)[-1], y)          # x is cast, so the node keeps it in a parcel
        float(x.sum())
        return found

    compiled = torch.compile(maximum)
    for call in (maximum, compiled, compiled):
        x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 3.0, 2.0]).to(torch.bfloat16)
        with warnings.catch_warnings(action="ignore"):
            call(x, y).sum().backward()
        assert x.grad.tolist() == [0.0, 1.5]


@pytest.mark.parametrize("backend", ["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
def test_grad_and_vjp_are_traced(backend: str) -> None:
    layer = nn.Linear(3, 2)

    def gradients(x: Any) -> Any:
        parameters = dict(layer.named_parameters())
        found = torch.func.grad(lambda p: torch.func.functional_call(layer, p, (x,)).square().mean())(parameters)
        return [*found.values(), torch.func.vjp(torch.exp, x)[1](x)[0]]

    compiled = torch.compile(gradients, fullgraph=True, backend=backend)
    for _ in range(3):
        x = torch.randn(5, 3)
        assert all([torch.allclose(a, b, atol=1e-6) for a, b in zip(compiled(x), gradients(x), strict=True)])
