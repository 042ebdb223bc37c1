"""Random calls of `autograd.grad` and `backward` on a small graph, with outputs, inputs and options of any kind.

`outcome(library, seed)` says what a library makes of a call: the gradients, or the error.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

OPTIONS = {"retain_graph": (True, False, None), "create_graph": (True, False), "allow_unused": (True, False, None),
           "is_grads_batched": (True, False), "materialize_grads": (True, False)}


def graph(t: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors to differentiate, and tensors to differentiate with respect to."""
    a, b = t.tensor([1., 2., 3.], requires_grad=True), t.tensor(2., requires_grad=True)
    e, none = t.ones(2, 3, requires_grad=True), t.zeros(0, requires_grad=True)
    z, double = t.tensor([1 + 1j, 2.], requires_grad=True), t.ones(3, dtype=t.float64, requires_grad=True)
    weight, constant = t.nn.Parameter(t.ones(3)), t.ones(3)
    product = a * b
    total, view, written = (product ** 2).sum(), a.view(3, 1), product.clone()
    written.mul_(2)
    first, second = t.unbind(e * 2)
    outputs = {"product": product, "total": total, "view": view, "rows": e @ a, "first": first, "second": second,
               "abs": z.abs(), "square": z * z, "written": written, "leaf": a, "scalar": b, "constant": constant,
               "where": t.where(a > 1, product, constant), "weighed": (weight * a).sum(), "empty": none,
               "double": double * 2, "ints": t.arange(3), "None": None, "3": 3}
    inputs = {"a": a, "b": b, "e": e, "product": product, "z": z, "none": none, "view": view, "weight": weight,
              "total": total, "double": double, "constant": constant, "None": None, "3": 3}
    return outputs, inputs


def chosen(draws: random.Random, among: dict[str, Any]) -> Any:
    """One of the tensors or a list of some, mostly of those that require grad."""
    def one() -> Any:
        usual = [x for name, x in among.items() if name not in ("None", "3", "constant", "ints")]
        return draws.choice(usual) if draws.random() < .93 else draws.choice([*among.values()])

    if draws.random() < .5:
        return one()
    return draws.choice((list, tuple))([one() for _ in range(draws.randrange(1, 4))])


def cotangent(draws: random.Random, t: Any, output: Any, alone: bool, batched: bool) -> Any:
    """A gradient of an output. PyTorch looks for a wrong one by `==`, so a wrong one stands alone."""
    if not isinstance(output, t.Tensor):
        return None
    if batched:
        return t.ones(2, *output.shape, dtype=output.dtype)
    if not output.is_floating_point() and not output.is_complex():
        return None
    fitting = [lambda: t.ones_like(output), lambda: t.ones_like(output) * 2] * 3 + [lambda: None]
    others = [lambda: t.tensor(2.), lambda: t.ones(3, requires_grad=True), lambda: t.ones(2, 2), lambda: 1.,
              lambda: t.ones_like(output, dtype=t.float64), lambda: t.ones(2, *output.shape)]
    return draws.choice([*fitting, *others] if alone else fitting)()


def shown(t: Any, value: Any) -> str:
    """A value in words. The sign of zeros is left out."""
    if isinstance(value, t.Tensor):
        numbers = [complex(x.real + 0, x.imag + 0) if isinstance(x, complex) else round(x, 4) + 0
                   for x in value.flatten().tolist()]
        return f"{tuple(value.shape)} {value.dtype} {value.requires_grad} {value.grad_fn is None} {numbers}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(shown(t, each) for each in value)}]"
    return repr(value)


def outcome(t: Any, seed: int) -> str:
    """What a library makes of the call of a seed."""
    draws = random.Random(seed)
    outputs, inputs = graph(t)
    output, targets = chosen(draws, outputs), chosen(draws, inputs)
    options = {"allow_unused": True} if draws.random() < .5 else {}
    options |= {name: draws.choice(values) for name, values in OPTIONS.items() if draws.random() < .2}
    backward = draws.random() < .4
    if backward:
        options = {name: value for name, value in options.items() if name in ("retain_graph", "create_graph")}
        if draws.random() < .3:
            options["inputs"] = targets
    alone, batched = isinstance(output, t.Tensor), bool(options.get("is_grads_batched"))
    given = None
    if draws.random() < .8 or batched:
        given = [cotangent(draws, t, each, alone, batched) for each in ([output] if alone else output or [])] if (
            isinstance(output, (t.Tensor, list, tuple))) else None
        given = given[0] if alone and given else given
    leaves = [x for x in inputs.values() if isinstance(x, t.Tensor) and x.is_leaf]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not backward:
                return shown(t, t.autograd.grad(output, targets, given, **options))
            t.autograd.backward(output, given, **options)
        except Exception as error:
            return f"{type(error).__name__}: {error}".partition("\nException raised")[0]
    return shown(t, [leaf.grad for leaf in leaves])
