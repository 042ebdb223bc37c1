"""`Module.compile`: the calls of a module are compiled, with its hooks, and its copies are not."""

import copy
import io
import pickle
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, noted_traces


def net() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


class Scaled(torch.nn.Module):
    """A module with an option."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = net()

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return self.inner(x) * scale


@pytest.mark.parametrize("backend", EXECUTORS)
def test_calls_are_compiled(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = noted_traces(monkeypatch)
    module, plain, x = Scaled(), Scaled(), torch.ones(2, 3)
    module.compile(backend=backend)
    for _ in range(5):
        for each in (module, plain):
            each.zero_grad()
            each(x, scale=2.0).sum().backward()
        torch.testing.assert_close(module(x), plain(x))
        torch.testing.assert_close(module.inner[0].weight.grad, plain.inner[0].weight.grad)
    assert len(traces) == 2                                # with and without the option


def test_hooks_run_around_a_compiled_call() -> None:
    module, x = net(), torch.ones(2, 3)
    expected = module(x)
    module.compile(backend="numpy")
    torch.testing.assert_close(module(x), expected)
    handle = module.register_forward_hook(lambda module, args, output: output * 2)
    for _ in range(3):
        torch.testing.assert_close(module(x), expected * 2)
    handle.remove()
    torch.testing.assert_close(module(x), expected)
    everywhere = torch.nn.modules.module.register_module_forward_hook(
        lambda module, args, output: output + 1 if module is not None and not len([*module.children()]) else None)
    try:
        with pytest.warns(UserWarning, match="there are hooks on all modules"):
            torch.testing.assert_close(module(x), module._call_impl(x))
    finally:
        everywhere.remove()


@pytest.mark.filterwarnings("ignore:torch.load with weights_only=False")
@pytest.mark.parametrize("make", [net, lambda: torch.nn.LSTM(3, 2)], ids=["layers", "LSTM"])
def test_copies_are_not_compiled(make: Any) -> None:
    module = make()
    module.compile(backend="numpy")
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.load(file, weights_only=False)):
        assert other._compiled_call_impl is None
        for one, two in zip(module.parameters(), other.parameters(), strict=True):
            assert torch.equal(one, two)
    assert module._compiled_call_impl is not None


def test_a_compiled_module_in_another_compiled_function() -> None:
    module, plain = net(), net()
    module.compile(backend="numpy")
    step, x = torch.compile(lambda x: module(x).square().sum(), backend="numpy"), torch.ones(2, 3)
    for _ in range(3):
        torch.testing.assert_close(step(x), plain(x).square().sum())
    with torch.no_grad():
        for each in (module, plain):
            each[0].weight.add_(1.0)
    torch.testing.assert_close(step(x), plain(x).square().sum())
    torch.testing.assert_close(module(x), plain(x))


def test_an_error_names_the_module() -> None:
    module = net()
    module.compile(backend="numpy")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        module(torch.ones(2, 5))
    torch.testing.assert_close(module(torch.ones(2, 3)), net()(torch.ones(2, 3)))
