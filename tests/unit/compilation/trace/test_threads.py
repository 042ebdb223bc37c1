"""Another thread looks at a tensor while a compiled function is traced: it sees numbers, and takes nothing away."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.trace import run_once
from retrograd.compilation.trace.tracing import Tape

LOOKS: dict[str, Callable[[Any], Any]] = {
    "print": str, "read": lambda w: w.tolist(), "item": lambda w: w.sum().item(), "compare": lambda w: bool(w[0] == 1),
    "array": lambda w: w.detach().numpy().tolist(), "clone": lambda w: w.clone().tolist(),
    "copy": lambda w: copy.deepcopy(w).tolist(), "pickle": lambda w: pickle.loads(pickle.dumps(w)).tolist(),
    "index": lambda w: w[torch.tensor([0, 2])].tolist(), "unsqueeze": lambda w: w.unsqueeze(1).tolist(),
    "expand": lambda w: w.expand(2, 3).tolist(), "unfold": lambda w: w.unfold(0, 2, 1).tolist(),
    "linear": lambda w: torch.nn.functional.linear(w, torch.ones(2, 3)).tolist(),
    "gradient": lambda w: torch.autograd.grad((w * w).sum(), w)[0].tolist()}


def in_a_thread(look: Callable[[Any], Any], weight: Any) -> Any:
    """What another thread sees."""
    seen: list[Any] = []

    def run() -> None:
        try:
            seen.append(look(weight))
        except BaseException as error:
            seen.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen[0]


@pytest.fixture
def weight() -> Any:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture(params=["a call is noted", "the call is described"])
def looking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Has another thread look once, while the tracing thread works with what the tape holds."""
    def at(look: Callable[[Any], Any], weight: Any) -> list[Any]:
        holder: Any = Tape if request.param == "a call is noted" else run_once
        name = "_noted" if holder is Tape else "changes"
        former, seen = getattr(holder, name), list[Any]()

        def call(*args: Any) -> Any:
            result = former(*args)
            if not seen:
                seen.append(in_a_thread(look, weight))
            return result

        monkeypatch.setattr(holder, name, call)
        return seen

    return at


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_from_another_thread(name: str, weight: Any, looking: Callable[..., list[Any]]) -> None:
    def step(x: Any) -> Any:
        product = x * weight
        with torch.no_grad():
            weight.mul_(2)
        return (product + weight).sum()

    wanted = [LOOKS[name](weight), LOOKS[name]((weight * 2).detach().requires_grad_())]
    seen, compiled = looking(LOOKS[name], weight), torch.compile(step)
    with warnings.catch_warnings(action="ignore"):
        assert [compiled(torch.ones(3)).item() for _ in range(3)] == [18, 36, 72]
    assert seen[0] in wanted
    assert type(weight._array) is np.ndarray
    assert weight.tolist() == [8, 16, 24]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("whole", [False, True])
def test_the_next_call_is_traced(whole: bool, weight: Any, looking: Callable[..., list[Any]]) -> None:
    """The thread that traces has done nothing wrong: it gets its result, and neither a warning nor an error."""
    seen = looking(lambda w: w.tolist(), weight)
    compiled = torch.compile(lambda x: (x * weight).sum(), fullgraph=whole)
    assert compiled(torch.ones(3)).item() == 6
    assert seen == [[1.0, 2.0, 3.0]]
    assert type(weight._array) is np.ndarray
    assert compiled(torch.ones(3)).item() == 6
    with torch.compiler.set_stance("fail_on_recompile"):
        assert compiled(torch.full((3,), 2.)).item() == 12
