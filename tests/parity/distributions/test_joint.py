"""Discrete, joint and mixed distributions, and divergences of all pairs, against PyTorch."""

from __future__ import annotations

import importlib
import inspect
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing import distribution_calls as calls, joint_distributions as tables
from comparing.against_torch import same_error
from comparing.same_distribution import same

LIBRARIES = (torch, retrograd)
LINES = [line for table in (tables.DISCRETE, tables.GAMMA, tables.RELAXED, tables.JOINT) for line in calls.lines(table)]
MADE = calls.lines(tables.MADE)


def _near(theirs: Any, ours: Any, far: float, where: str) -> None:
    """Raises AssertionError unless a tensor, or each in a list, agrees up to this number of its size."""
    for their, our in zip(*(answer if isinstance(answer, list) else [answer] for answer in (theirs, ours))):
        if their is None:
            assert our is None
        else:
            expected = their.detach().numpy()
            np.testing.assert_allclose(our.detach().numpy(), expected, rtol=far, atol=far, err_msg=where)


@pytest.mark.parametrize("line", LINES)
def test_answers(line: str) -> None:
    theirs, ours = (calls.outcomes(library, line) for library in LIBRARIES)
    for where, expected in theirs.items():
        apart = tables.apart(line, where)
        if apart is None or (isinstance(expected, Exception) and apart[0] is not None):
            same(expected, ours.get(where), where)
        elif apart[0] is not None:
            _near(expected, ours[where], apart[0], where)
    assert {where for where in ours.keys() ^ theirs.keys() if tables.apart(line, where) is None} == set()


@pytest.mark.parametrize("line", [line for line in LINES if line.partition("(")[0] in (
    "Bernoulli", "Binomial", "NegativeBinomial", "Poisson", "Categorical", "Multinomial", "Gamma", "Beta", "Dirichlet",
    "StudentT", "FisherSnedecor", "VonMises")])
def test_samples_are_the_same_bits(line: str) -> None:
    draws = []
    for library in LIBRARIES:
        library.manual_seed(11)
        draws.append(calls.Made(library, line).value.sample((5, 3)).numpy())
    np.testing.assert_array_equal(draws[1], draws[0])


@pytest.mark.parametrize("line", calls.lines(tables.WRONG))
def test_errors(line: str) -> None:
    theirs, ours = (calls.error_of(library, line) for library in LIBRARIES)
    assert theirs is not None
    same_error(theirs, ours)


@cache
def _made(library: Any, line: str) -> calls.Made:
    return calls.Made(library, line)


def _divergence(library: Any, p: str, q: str) -> Any:
    """The divergence, and the gradients of its finite elements; or the error."""
    first, second = _made(library, p), _made(library, q)
    try:
        result = library.distributions.kl_divergence(first.value, second.value)
    except Exception as error:
        return error
    leaves = first.leaves + second.leaves
    finite = result[library.isfinite(result)].sum()
    if not leaves or not finite.requires_grad:
        return [result]
    gradients = library.autograd.grad(finite, leaves, allow_unused=True, retain_graph=True)
    return [result, *(torch.zeros(()) if g is None else g for g in gradients)]


@pytest.mark.parametrize("p", MADE)
def test_divergences_of_all_pairs(p: str) -> None:
    for q in MADE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = (_divergence(library, p, q) for library in LIBRARIES)
        if isinstance(theirs, IndexError):
            continue                    # PyTorch marks infinite elements with masks that it does not broadcast
        if isinstance(theirs, Exception):
            same_error(theirs, ours if isinstance(ours, Exception) else None)
        else:
            assert ours[0].shape == theirs[0].shape
            _near(theirs, ours, 1e-8, f"{p} {q}")


def test_the_registered_pairs_are_the_same() -> None:
    pairs = [{(p.__name__, q.__name__) for p, q in library.distributions.kl._KL_REGISTRY} for library in LIBRARIES]
    assert pairs[1] == pairs[0]


def test_dispatch_and_its_warning() -> None:
    """The nearest base class of p counts first; if the nearest base of q leads elsewhere, both libraries warn."""
    told = []
    for library in LIBRARIES:
        d = library.distributions
        near, far = (type(name, (d.Normal,), {}) for name in ("Near", "Far"))
        registry = dict(d.kl._KL_REGISTRY)
        d.register_kl(near, d.Normal)(lambda p, q: "p first")
        d.register_kl(d.Normal, far)(lambda p, q: "q first")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = d.kl_divergence(near(0.0, 1.0), far(0.0, 1.0)), d.kl_divergence(d.Normal(0.0, 1.0), far(0.0, 1.0))
        told.append((found, [(w.category, str(w.message)) for w in caught]))
        d.kl._KL_REGISTRY.clear()
        d.kl._KL_REGISTRY.update(registry)
    assert told[1] == told[0]


@pytest.mark.parametrize("pair", [(1, 2), ("Normal", 2), (2, "Normal")])
def test_what_cannot_be_registered(pair: tuple[Any, Any]) -> None:
    errors = []
    for library in LIBRARIES:
        p, q = ({"Normal": library.distributions.Normal}.get(one, one) for one in pair)
        with pytest.raises(Exception) as caught:          # noqa: PT011
            library.distributions.register_kl(p, q)
        errors.append(caught.value)
    same_error(*errors)


def _parameters(function: Any) -> list[tuple[str, str]]:
    """The names and the defaults of the parameters."""
    parameters = inspect.signature(function).parameters.values()
    return [(parameter.name, repr(parameter.default).replace("retrograd", "torch")) for parameter in parameters]


MODULES = sorted(name for name, module in vars(torch.distributions).items()
                 if inspect.ismodule(module) and hasattr(module, "__all__"))


@pytest.mark.parametrize("module", MODULES)
def test_names_parameters_and_defaults(module: str) -> None:
    theirs, ours = (importlib.import_module(f"{library.__name__}.distributions.{module}") for library in LIBRARIES)
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    for name in theirs.__all__:
        their, our = getattr(theirs, name), getattr(ours, name)
        if not inspect.isclass(their):
            if callable(their):
                assert _parameters(our) == _parameters(their), name
            continue
        assert _parameters(our) == _parameters(their), name
        for member in dir(their):
            kind = inspect.getattr_static(their, member)
            if not member.startswith("_"):
                assert hasattr(our, member), (name, member)
                assert isinstance(inspect.getattr_static(our, member), property) == isinstance(kind, property)
                if inspect.isfunction(kind):
                    assert _parameters(getattr(our, member)) == _parameters(getattr(their, member)), (name, member)
