"""Whole programs with torch.func, of the kinds that PyTorch's documentation shows: the same calls, the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import retrograd


def _model(T: ModuleType) -> Any:
    return T.nn.Sequential(T.nn.Linear(5, 6), T.nn.Tanh(), T.nn.Softplus(), T.nn.Linear(6, 3)).double()


def _picture_model(T: ModuleType) -> Any:
    return T.nn.Sequential(T.nn.Conv2d(1, 2, 3), T.nn.ReLU(), T.nn.MaxPool2d(2), T.nn.Flatten(),
                           T.nn.Linear(18, 4)).double()


def _state(model: Any) -> dict[str, Any]:
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def gradients_of_samples(T: ModuleType) -> Any:
    model = _picture_model(T)
    pictures, kinds = T.rand(6, 1, 8, 8, dtype=T.float64), T.randint(0, 4, (6,))

    def loss(state: Any, picture: Any, kind: Any) -> Any:
        found = T.func.functional_call(model, state, (picture[None],))
        return T.nn.functional.cross_entropy(found, kind[None])

    return T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(_state(model), pictures, kinds)


def clipped_gradients_of_samples(T: ModuleType) -> Any:
    model, x, wanted = _model(T), T.rand(7, 5, dtype=T.float64), T.rand(7, 3, dtype=T.float64)

    def clipped(state: Any, x: Any, wanted: Any) -> Any:
        gradient, value = T.func.grad_and_value(
            lambda state: ((T.func.functional_call(model, state, x) - wanted) ** 2).mean())(state)
        size = T.sqrt(sum((g * g).sum() for g in gradient.values()))
        return {name: g / T.clamp(size, min=0.5) for name, g in gradient.items()}, value

    return T.vmap(clipped, (None, 0, 0), chunk_size=3)(_state(model), x, wanted)


def an_ensemble(T: ModuleType) -> Any:
    models = [_model(T) for _ in range(4)]
    parameters, buffers = T.func.stack_module_state(models)
    parameters = {name: parameter.detach() for name, parameter in parameters.items()}
    x = T.rand(4, 2, 5, dtype=T.float64)

    def call(parameters: Any, buffers: Any, x: Any) -> Any:
        return T.func.functional_call(models[0], (parameters, buffers), (x,))

    return T.vmap(call)(parameters, buffers, x), T.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x[0])


def an_ensemble_in_training(T: ModuleType) -> Any:
    models = [_model(T) for _ in range(3)]
    x, wanted = T.rand(8, 5, dtype=T.float64), T.rand(8, 3, dtype=T.float64)
    state, buffers = T.func.stack_module_state(models)
    state = {name: parameter.detach() for name, parameter in state.items()}

    def loss(state: Any, buffers: Any) -> Any:
        return ((T.func.functional_call(models[0], (state, buffers), x) - wanted) ** 2).mean()

    losses = []
    for _ in range(4):
        gradient, value = T.vmap(T.func.grad_and_value(loss))(state, buffers)
        state = {name: parameter - 0.3 * gradient[name] for name, parameter in state.items()}
        losses.append(value)
    return losses, state


def jacobians_of_a_model(T: ModuleType) -> Any:
    model, x = _model(T), T.rand(5, dtype=T.float64)
    state, many = _state(model), T.rand(4, 5, dtype=T.float64)

    def call(state: Any, x: Any) -> Any:
        return T.func.functional_call(model, state, x)

    return (T.func.jacrev(call, 1)(state, x), T.func.jacfwd(call, 1)(state, x), T.func.jacrev(call)(state, x),
            T.vmap(T.func.jacrev(call, 1), (None, 0))(state, many), T.func.jacrev(call, 1, chunk_size=2)(state, x))


def hessians_of_a_model(T: ModuleType) -> Any:
    model, x = _model(T), T.rand(3, 5, dtype=T.float64)

    def energy(x: Any) -> Any:
        return T.sin(model(x)).sum()

    forms = [T.func.hessian(energy), T.func.jacrev(T.func.jacrev(energy)), T.func.jacfwd(T.func.jacfwd(energy)),
             T.func.jacrev(T.func.jacfwd(energy))]
    laplacian = T.vmap(lambda x: T.trace(T.func.hessian(energy)(x)))(x)
    return [T.vmap(form)(x).detach() for form in forms], laplacian.detach()


def products_with_hessians(T: ModuleType) -> Any:
    def energy(x: Any) -> Any:
        return (x.sin() * x.flip(0).exp()).prod()

    x, v = T.rand(4, dtype=T.float64), T.rand(4, dtype=T.float64)
    forward = T.func.jvp(T.func.grad(energy), (x,), (v,))
    _, pull = T.func.vjp(T.func.grad(energy), x)
    _, push = T.func.linearize(T.func.grad(energy), x)
    return forward, pull(v), push(v), T.vmap(pull)(T.eye(4, dtype=T.float64))


def neural_tangent_kernels(T: ModuleType) -> Any:
    model = _picture_model(T)
    state = _state(model)
    left, right = T.rand(4, 1, 8, 8, dtype=T.float64), T.rand(3, 1, 8, 8, dtype=T.float64)

    def call(state: Any, x: Any) -> Any:
        return T.func.functional_call(model, state, (x[None],))[0]

    jacobian = T.vmap(T.func.jacrev(call), (None, 0))
    first, second = jacobian(state, left), jacobian(state, right)
    by_contraction = sum(T.einsum("naf,mbf->nmab", first[name].flatten(2), second[name].flatten(2)) for name in state)

    def entry(x: Any, y: Any) -> Any:
        _, pull = T.func.vjp(lambda state: call(state, x), state)

        def column(unit: Any) -> Any:
            return T.func.jvp(lambda state: call(state, y), (state,), pull(unit))[1]

        return T.vmap(column)(T.eye(4, dtype=T.float64))

    return by_contraction, T.vmap(T.vmap(entry, (None, 0)), (0, None))(left, right)


def a_step_of_learning_to_learn(T: ModuleType) -> Any:
    model = _model(T)
    x, wanted = T.rand(3, 6, 5, dtype=T.float64), T.rand(3, 6, 3, dtype=T.float64)

    def loss(state: Any, x: Any, wanted: Any) -> Any:
        return ((T.func.functional_call(model, state, x) - wanted) ** 2).mean()

    def after_a_step(state: Any, x: Any, wanted: Any) -> Any:
        gradient = T.func.grad(loss)(state, x[:3], wanted[:3])
        return loss({name: value - 0.1 * gradient[name] for name, value in state.items()}, x[3:], wanted[3:])

    return T.func.grad_and_value(
        lambda state: T.vmap(after_a_step, (None, 0, 0))(state, x, wanted).mean())(_state(model))


def an_equation_in_two_variables(T: ModuleType) -> Any:
    model = T.nn.Sequential(T.nn.Linear(2, 8), T.nn.Tanh(), T.nn.Linear(8, 1)).double()
    points = T.rand(5, 2, dtype=T.float64)

    def residual(state: Any, point: Any) -> Any:
        def u(t: Any, x: Any) -> Any:
            return T.func.functional_call(model, state, T.stack([t, x]))[0]

        t, x = point
        bend = T.func.grad(T.func.grad(u, 1), 1)(t, x)
        rate = T.func.jvp(lambda t: u(t, x), (t,), (T.ones_like(t),))[1]
        return rate - 0.1 * bend + u(t, x) * T.func.grad(u, 1)(t, x)

    return T.func.grad_and_value(
        lambda state: (T.vmap(residual, (None, 0))(state, points) ** 2).mean())(_state(model))


def random_numbers(T: ModuleType) -> Any:
    x = T.zeros(3, 4)
    found = []
    for randomness in ("same", "different"):
        T.manual_seed(5)
        found.append(T.vmap(lambda x: T.nn.functional.dropout(x + 1) + T.rand(4) + T.randn_like(x),
                            randomness=randomness)(x))
    T.manual_seed(5)
    return found, T.func.jvp(lambda x: x * T.rand(4), (x[0],), (x[0] + 1,))


PROGRAMS: list[Callable[[ModuleType], Any]] = [
    gradients_of_samples, clipped_gradients_of_samples, an_ensemble, an_ensemble_in_training, jacobians_of_a_model,
    hessians_of_a_model, products_with_hessians, neural_tangent_kernels, a_step_of_learning_to_learn,
    an_equation_in_two_variables, random_numbers]


@pytest.mark.filterwarnings("ignore")                     # PyTorch compiles rules when it first needs them
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_has_the_numbers_of_pytorch(program: Callable[[ModuleType], Any]) -> None:
    theirs, mine = [], []
    for T, found in ((torch, theirs), (retrograd, mine)):
        T.manual_seed(0)
        leaves, spec = T.utils._pytree.tree_flatten(program(T))
        found += [str(spec), *leaves]
    assert mine[0] == theirs[0]
    assert len(mine) == len(theirs)
    for here, there in zip(mine[1:], theirs[1:], strict=True):
        assert str(here.dtype).partition(".")[2] == str(there.dtype).partition(".")[2]
        np.testing.assert_allclose(here.detach().numpy(), there.detach().numpy(), rtol=1e-6, atol=1e-9)
