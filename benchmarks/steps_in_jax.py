"""The steps of `steps` in JAX. They begin with the same numbers: parameters and batches are those of the other package.

JAX compiles a step as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy
from jax.nn import gelu, log_softmax, relu, sigmoid, softmax, softplus

from benchmarks.program_steps import runge_kutta
from benchmarks.steps import HEADS


class Step(NamedTuple):
    """`step` gets the parameters, the optimizer's state and a batch. It returns results, parameters and state.

    The results are the loss, or the loss and the gradients. `start` makes the first state for the parameters.
    """

    step: Callable[..., tuple[Any, Any, Any]]
    start: Callable[[Any], Any] = lambda parameters: ()


def with_gradients(loss: Callable[..., Any]) -> Step:
    """A step that returns the loss and the gradients of the parameters."""

    def step(parameters: Any, state: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        return (value, *gradients), parameters, state

    return Step(step)


def with_sgd(loss: Callable[..., Any], rate: float) -> Step:
    """A step with stochastic gradient descent."""

    def step(parameters: Any, state: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        return (value,), [p - rate * g for p, g in zip(parameters, gradients)], state

    return Step(step)


def with_adam(loss: Callable[..., Any], rate: float) -> Step:
    """A step with Adam, with PyTorch's default options."""

    def start(parameters: Any) -> Any:
        zeros = [numpy.zeros(parameter.shape, parameter.dtype) for parameter in parameters]
        return jax.device_put((numpy.float32(0), zeros, zeros), may_alias=False)

    def step(parameters: Any, state: Any, *batch: Any) -> Any:
        count, first, second = state
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        count = count + 1
        first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradients)]
        size, root = rate / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
        parameters = [p - size * m / (jnp.sqrt(v) / root + 1e-8) for p, m, v in zip(parameters, first, second)]
        return (value,), parameters, (count, first, second)

    return Step(step, start)


def _chain(parameters: Any) -> Any:
    x, y = parameters
    z = jnp.ones((2, 3), dtype="float32")
    for _ in range(100):
        z = (z / x) * y
    return z.sum()


def _cubic(parameters: Any, x: Any, y: Any) -> Any:
    a, b, c, d = parameters
    return ((a + b * x + c * x**2 + d * x**3 - y) ** 2).sum()


def _pointwise(parameters: Any) -> Any:
    a, = parameters
    return (jnp.sin(a) * a + jnp.exp(a)).sum()


def _layers(parameters: Any, x: Any) -> Any:
    """Linear layers, with relu between them."""
    pairs = [*zip(parameters[::2], parameters[1::2])]
    for weight, bias in pairs[:-1]:
        x = relu(x @ weight.T + bias)
    weight, bias = pairs[-1]
    return x @ weight.T + bias


def _model(parameters: Any, x: Any, y: Any) -> Any:
    return ((_layers(parameters, x) - y) ** 2).mean()


def _cross_entropy(scores: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(log_softmax(scores), labels[..., None], -1).mean()


def _digits(parameters: Any, images: Any, labels: Any) -> Any:
    return _cross_entropy(_layers(parameters, images), labels)


def _lstm(parameters: Any, x: Any) -> Any:
    inputs, hidden, input_bias, hidden_bias = parameters
    from_inputs = x @ inputs.T + (input_bias + hidden_bias)
    zeros = jnp.zeros((x.shape[1], hidden.shape[1]), dtype=x.dtype)

    def cell(carry: Any, row: Any) -> Any:
        h, c = carry
        i, f, g, o = jnp.split(row + h @ hidden.T, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
        h = sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    _, rows = jax.lax.scan(cell, (zeros, zeros), from_inputs)
    return (rows**2).mean()


def _norm(x: Any, weight: Any, bias: Any) -> Any:
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight + bias


def _heads(x: Any, weight: Any, bias: Any, mask: Any = 0) -> Any:
    """Attention of x to itself, without the last layer. `mask` is added to the products."""
    n, length, width = x.shape
    q, k, v = (part.reshape(n, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)
               for part in jnp.split(x @ weight.T + bias, 3, axis=-1))
    shares = softmax(q @ k.swapaxes(-1, -2) * (width // HEADS) ** -0.5 + mask)
    return (shares @ v).transpose(0, 2, 1, 3).reshape(n, length, width)


def _attention(parameters: Any, x: Any, weights: Any) -> Any:
    (in_weight, in_bias, out_weight, out_bias, up, up_bias, down, down_bias, *norms) = parameters
    x = _norm(x + _heads(x, in_weight, in_bias) @ out_weight.T + out_bias, *norms[:2])
    x = _norm(x + relu(x @ up.T + up_bias) @ down.T + down_bias, *norms[2:])
    return (x * weights).mean()


def _of_batch(function: Callable[..., tuple[Any, ...]]) -> Step:
    """A step that returns what a function computes from the parameters and the batch."""
    return Step(lambda parameters, state, *batch: (function(parameters, *batch), parameters, state))


def _tanh_layers(parameters: Any, x: Any) -> Any:
    """Linear layers, with tanh between them."""
    pairs = [*zip(parameters[::2], parameters[1::2])]
    for weight, bias in pairs[:-1]:
        x = jnp.tanh(x @ weight.T + bias)
    weight, bias = pairs[-1]
    return x @ weight.T + bias


def _per_sample(parameters: Any, rows: Any, labels: Any) -> Any:
    def loss(parameters: Any, row: Any, label: Any) -> Any:
        return -log_softmax(_tanh_layers(parameters, row))[label]

    return tuple(jax.vmap(jax.grad(loss), (None, 0, 0))(parameters, rows, labels))


def _hessian(parameters: Any, x: Any) -> Any:
    matrix, = parameters
    return (jax.hessian(lambda z: jnp.tanh(jnp.sin(z) @ matrix @ z))(x),)


def _greeks(parameters: Any, *given: Any) -> Any:
    def price(spot: Any, strike: Any, years: Any, volatility: Any) -> Any:
        spread = volatility * jnp.sqrt(years)
        first = (jnp.log(spot / strike) + (0.02 + volatility * volatility / 2) * years) / spread
        one, two = [0.5 * (1 + jax.lax.erf(d / math.sqrt(2))) for d in (first, first - spread)]
        return (spot * one - strike * jnp.exp(-0.02 * years) * two).sum()

    found: tuple[Any, ...] = jax.grad(price, (0, 2, 3))(*given)
    return found


def _pinn(parameters: Any, x: Any) -> Any:
    def along(function: Any, x: Any) -> Any:
        return jax.jvp(function, (x,), (jnp.ones_like(x),))[1]

    def network(x: Any) -> Any:
        return _tanh_layers(parameters, x)

    return ((along(lambda y: along(network, y), x) + network(x)) ** 2).mean()


def _cnn(parameters: Any, images: Any, labels: Any) -> Any:
    kernels, weight, shift, *last = parameters
    x = jax.lax.conv_general_dilated(images, kernels, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    x = x - x.mean((0, 2, 3), keepdims=True)
    x = x * jax.lax.rsqrt((x * x).mean((0, 2, 3), keepdims=True) + 1e-5) * weight[:, None, None] + shift[:, None, None]
    n, channels, height, width = x.shape
    x = relu(x).reshape(n, channels, height // 2, 2, width // 2, 2).max((3, 5))
    return _cross_entropy(_layers(last, x.reshape(n, -1)), labels)


def _gpt(parameters: Any, given: Any, wanted: Any) -> Any:
    letters, places, *rest = parameters
    x = letters[given] + places
    later = jnp.triu(jnp.full((x.shape[1], x.shape[1]), -jnp.inf, x.dtype), 1)
    while len(rest) > 4:
        one, two, projection, bias, out, out_bias, *rest = rest
        x = x + _heads(_norm(x, one, two), projection, bias, later) @ out.T + out_bias
        one, two, up, up_bias, down, down_bias, *rest = rest
        x = x + gelu(_norm(x, one, two) @ up.T + up_bias, approximate=False) @ down.T + down_bias
    return _cross_entropy(_layers(rest[2:], _norm(x, *rest[:2])), wanted)


def _gru(parameters: Any, x: Any) -> Any:
    inputs, hidden, input_bias, hidden_bias = parameters
    zeros = jnp.zeros((x.shape[1], hidden.shape[1]), dtype=x.dtype)

    def cell(h: Any, row: Any) -> Any:
        (r, z, n), (own_r, own_z, own_n) = jnp.split(row, 3, axis=-1), jnp.split(h @ hidden.T + hidden_bias, 3, axis=-1)
        z = sigmoid(z + own_z)
        h = (1 - z) * jnp.tanh(n + sigmoid(r + own_r) * own_n) + z * h
        return h, h

    _, rows = jax.lax.scan(cell, zeros, x @ inputs.T + input_bias)
    return (rows**2).mean()


def _vae(parameters: Any, images: Any, noise: Any) -> Any:
    mean, spread = jnp.split(_layers(parameters[:4], images), 2, axis=-1)
    scores = _layers(parameters[4:], mean + noise * jnp.exp(spread / 2))
    known = (softplus(scores) - images * scores).sum()
    return (known - 0.5 * (1 + spread - mean**2 - jnp.exp(spread)).sum()) / len(images)


def _ode(parameters: Any, x: Any, wanted: Any) -> Any:
    return ((runge_kutta(lambda x: _tanh_layers(parameters, x), x) - wanted) ** 2).mean()


def _bodies(parameters: Any, masses: Any) -> Any:
    places, = parameters
    apart = places[:, None] - places
    near = 1 / jnp.sqrt((apart * apart).sum(-1) + 0.01)
    return -0.5 * (masses[:, None] * masses * near).sum()


STEPS: dict[str, Step] = {
    "chain": with_gradients(_chain),
    "cubic": with_sgd(_cubic, 1e-6),
    **{f"sin-exp-1e{exponent}": with_gradients(_pointwise) for exponent in (3, 5, 6, 7)},
    "model": with_sgd(_model, 0.001),
    "digits": with_adam(_digits, 1e-4),
    "lstm": with_sgd(_lstm, 0.001),
    "attention": with_sgd(_attention, 0.001),
    "per-sample": _of_batch(_per_sample),
    "hessian": _of_batch(_hessian),
    "greeks": _of_batch(_greeks),
    "pinn": with_sgd(_pinn, 0.001),
    "cnn": with_sgd(_cnn, 0.01),
    "gpt": with_adam(_gpt, 1e-3),
    "gru": with_sgd(_gru, 0.001),
    "vae": with_adam(_vae, 1e-3),
    "ode": with_sgd(_ode, 0.01),
    "bodies": with_gradients(_bodies),
}
