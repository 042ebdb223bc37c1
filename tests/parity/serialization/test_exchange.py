"""An object that one package has saved does in the other what it did before."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.exchanged import CASES, KINDS

WAYS = [(retrograd, torch), (torch, retrograd), (retrograd, retrograd)]


def through_file(saving: Any, loading: Any, obj: Any) -> Any:
    file = io.BytesIO()
    saving.save(obj, file)
    file.seek(0)
    return loading.load(file, weights_only=False)


def plain(value: Any) -> Any:
    """Tensors as arrays, everything else as text."""
    if isinstance(value, (retrograd.Tensor, torch.Tensor)):
        return str(value.dtype).rpartition(".")[2], value.detach().numpy()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if isinstance(value, float) else repr(value).replace("retrograd", "torch")


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = [found[key] for key in expected], [*expected.values()]
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, (np.ndarray, float)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    else:
        assert found == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "line"), CASES, ids=lambda part: str(part).partition("(")[0])
@pytest.mark.parametrize(("saving", "loading"), WAYS, ids=lambda library: library.__name__)
def test_what_is_loaded_goes_on_as_before(saving: Any, loading: Any, kind: str, line: str) -> None:
    if line == "LBFGS" and loading is torch:
        pytest.skip("a loaded LBFGS of PyTorch has lost its list of parameters")
    _, make, ask = KINDS[kind]
    loaded = through_file(saving, loading, make(saving, line))
    assert type(loaded).__module__.partition(".")[0] in (loading.__name__, "builtins")
    same(plain(ask(loading, loaded)), plain(ask(torch, make(torch, line))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "line"), [case for case in CASES if case[0] in ("schedule", "optimizer")],
                         ids=lambda part: str(part).partition("(")[0])
@pytest.mark.parametrize(("saving", "loading"), WAYS, ids=lambda library: library.__name__)
def test_a_state_goes_on_as_before(saving: Any, loading: Any, kind: str, line: str) -> None:
    """The state is loaded as weights alone, into an object that has made other steps."""
    _, make, ask = KINDS[kind]
    made, loaded = make(saving, line), make(loading, line)
    optimizers = [getattr(each, "optimizer", each) for each in (made, loaded)]
    before, after = (each.param_groups[0]["params"][0].data for each in optimizers)
    ask(loading, loaded)
    after.copy_(loading.tensor(before.tolist()))
    for state, goal in zip((optimizers[0], made), (optimizers[1], loaded)):
        file = io.BytesIO()
        saving.save(state.state_dict(), file)
        file.seek(0)
        goal.load_state_dict(loading.load(file))
    same(plain(ask(loading, loaded)), plain(ask(torch, make(torch, line))))


@pytest.mark.parametrize(("saving", "loading"), WAYS, ids=lambda library: library.__name__)
def test_a_generator_goes_on_where_it_was(saving: Any, loading: Any) -> None:
    generator = saving.Generator().manual_seed(11)
    saving.randn(3, generator=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = through_file(saving, loading, generator)
    assert loaded.initial_seed() == 11
    same(plain(loading.randn(17, generator=loaded)), plain(saving.randn(17, generator=generator)))
