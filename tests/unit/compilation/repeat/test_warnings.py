"""A repetition gives the warnings that the operations of the call give, on the line of the program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.nn import functional as F
from retrograd.utils.checkpoint import checkpoint


def warns(x: Any, y: Any) -> Any:
    return F.mse_loss(x, y)


def warns_twice(x: Any, y: Any) -> Any:
    return F.softmax(x) + F.mse_loss(x, y)


def warns_in_a_checkpoint(x: Any, y: Any) -> Any:
    return checkpoint(torch.sin, x) + y


def catches(x: Any, y: Any) -> Any:
    try:
        return F.mse_loss(x, y)
    except UserWarning:
        return x.sum() * 100


def branches(x: Any, y: Any) -> Any:
    found = F.mse_loss(x, y)
    return found if found > 5 else -found


def writes_before(x: Any, y: Any) -> Any:
    total.add_(1)
    return F.mse_loss(x, y) + total


total = torch.zeros(())
FUNCTIONS = [warns, warns_twice, warns_in_a_checkpoint, catches, branches, writes_before]
ACTIONS = ("always", "always", "default", "error", "always", "ignore", "once", "always", "error")


def calls(function: Callable[..., Any], sizes: tuple[int, ...]) -> list[Any]:
    """What calls return or raise under filters, what they warn of, and where."""
    found = list[Any]()
    total.zero_()
    for action in ACTIONS:
        for size in sizes:
            with warnings.catch_warnings(record=True) as given:
                warnings.simplefilter(action)  # type: ignore[arg-type]
                warnings.filterwarnings("ignore", message="torch.compile")
                try:
                    result = function(torch.ones(size, 1), torch.ones(size) * size).tolist()
                except Warning as error:
                    result = str(error)
            found.append((action, result, total.item(),
                          [(str(each.message), each.category, each.filename, each.lineno) for each in given]))
    return found


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 4, 5)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_call_warns(function: Callable[..., Any], sizes: tuple[int, ...]) -> None:
    found = calls(function, sizes)
    assert any([each[3] for each in found])
    assert calls(torch.compile(function, backend="numpy"), sizes) == found


def test_a_warning_stands_not_against_a_plan() -> None:
    compiled = torch.compile(warns, backend="numpy", fullgraph=True)
    with pytest.warns(UserWarning, match="target size"), torch.compiler.set_stance("default"):
        compiled(torch.ones(3, 1), torch.ones(3))
    with pytest.warns(UserWarning, match="target size"), torch.compiler.set_stance("fail_on_recompile"):
        compiled(torch.ones(3, 1), torch.ones(3))


def test_a_warning_of_which_the_process_hears_once_is_given_once() -> None:
    def function(x: Any) -> Any:
        return x.to(torch.float32)

    compiled = torch.compile(function, backend="numpy")
    x = torch.ones(3, dtype=torch.complex64)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        torch.set_warn_always(False)
        for _ in range(4):
            compiled(x)
    assert len([each for each in given if "discards the imaginary part" in str(each.message)]) <= 1
