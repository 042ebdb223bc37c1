"""Layers, containers, initial values and tools of torch.nn against PyTorch."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import retrograd
from comparing.against_torch import as_array, compare
from comparing.same_text import same

draws = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.asarray(draws.standard_normal(shape))


# Layers

LAYERS: list[Any] = [
    lambda nn: nn.Identity(3, a=2), lambda nn: nn.Linear(2, 3), lambda nn: nn.Linear(2, 3, bias=False),
    lambda nn: nn.Linear(20, 30),
    lambda nn: nn.Bilinear(1, 2, 3), lambda nn: nn.Flatten(), lambda nn: nn.Unflatten(1, (2, 2)), lambda nn: nn.ReLU(),
    lambda nn: nn.ReLU(True), lambda nn: nn.ReLU6(), lambda nn: nn.ReLU6(True), lambda nn: nn.LeakyReLU(0.2),
    lambda nn: nn.LeakyReLU(0.2, True), lambda nn: nn.ELU(), lambda nn: nn.ELU(2, True), lambda nn: nn.CELU(),
    lambda nn: nn.SELU(),
    lambda nn: nn.SiLU(), lambda nn: nn.SiLU(True), lambda nn: nn.Mish(), lambda nn: nn.GELU(),
    lambda nn: nn.GELU("tanh"),
    lambda nn: nn.Tanh(), lambda nn: nn.Sigmoid(), lambda nn: nn.Softplus(), lambda nn: nn.Softmax(-1),
    lambda nn: nn.LogSoftmax(1),
    lambda nn: nn.Softmin(1), lambda nn: nn.LogSigmoid(), lambda nn: nn.Softsign(), lambda nn: nn.Tanhshrink(),
    lambda nn: nn.Hardtanh(), lambda nn: nn.Hardtanh(0, 3, True), lambda nn: nn.Dropout(),
    lambda nn: nn.Dropout(0.1, True),
    lambda nn: nn.MSELoss(), lambda nn: nn.L1Loss(), lambda nn: nn.SmoothL1Loss(), lambda nn: nn.HuberLoss(),
    lambda nn: nn.KLDivLoss(),
    lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), lambda nn: nn.NLLLoss(), lambda nn: nn.BCELoss(),
    lambda nn: nn.BCEWithLogitsLoss(), lambda nn: nn.Dropout(2), lambda nn: nn.Unflatten(1, (2.0, 2)),
    lambda nn: nn.Unflatten(1, 3),
    lambda nn: nn.Hardtanh(3, 1), lambda nn: nn.Linear(2, 0), lambda nn: nn.Linear(0, 2),
]


@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_layers_print_and_begin_alike(number: int) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        layer = LAYERS[number](t.nn)
        options = {k: v for k, v in vars(layer).items() if k[0] != "_" and k != "training"}
        return layer, options, layer.state_dict()

    same(case)


RUN: list[Any] = [
    lambda nn: nn.Flatten(), lambda nn: nn.Flatten(0, 1), lambda nn: nn.Unflatten(1, (2, 2)), lambda nn: nn.ReLU(),
    lambda nn: nn.LeakyReLU(0.2), lambda nn: nn.ELU(2.0), lambda nn: nn.GELU("tanh"), lambda nn: nn.Softplus(2.0),
    lambda nn: nn.Softmax(-1), lambda nn: nn.LogSoftmax(1), lambda nn: nn.Dropout(0.3),
    lambda nn: nn.Dropout(0.3).eval(),
    lambda nn: nn.Sequential(nn.Flatten(), nn.Linear(12, 3), nn.Tanh()), lambda nn: nn.Identity(),
    lambda nn: nn.Hardtanh(0, 1),
    lambda nn: nn.LogSigmoid(), lambda nn: nn.Tanhshrink(), lambda nn: nn.Softmin(0),
]


@pytest.mark.parametrize("number", range(len(RUN)))
def test_layers_compute_alike(number: int) -> None:
    def case(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        return RUN[number](t.nn).double()(x)

    compare(case, normal(2, 4, 3))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_as_modules(reduction: str) -> None:
    x, y, w = normal(4, 3), np.abs(normal(4, 3)) % 1, np.abs(normal(3))
    for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"):
        compare(lambda t, x, y, name=name: getattr(t.nn, name)(reduction=reduction)(x, y), x, y)
    compare(lambda t, x, y: t.nn.BCELoss(reduction=reduction)(x.sigmoid(), y), x, y)
    compare(lambda t, x, y: t.nn.KLDivLoss(reduction=reduction, log_target=True)(x, y), x, y)
    classes = np.array([0, 2, 1, 1])
    for name in ("CrossEntropyLoss", "NLLLoss"):
        compare(lambda t, x, y, w, name=name: getattr(t.nn, name)(
            w.detach(), ignore_index=2, reduction=reduction)(x, y), x, classes, w)
    compare(lambda t, x, y: t.nn.MSELoss(size_average=False)(x, y), x, y)
    compare(lambda t, x, y: t.nn.MSELoss(reduce=False)(x, y), x, y)


# Containers

CONTAINERS: list[Any] = [
    lambda nn, t: nn.ParameterList([t.ones(2, 3), nn.Parameter(t.ones(())), 3]), lambda nn, t: nn.ParameterList(),
    lambda nn, t: nn.ParameterDict({"a": t.ones(2), "b": 3}), lambda nn, t: nn.ParameterDict(),
    lambda nn, t: nn.ModuleList(),
    lambda nn, t: nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Sequential(nn.ReLU()), nn.ReLU()]),
    lambda nn, t: nn.ModuleDict({"a": nn.Linear(1, 1)}), lambda nn, t: nn.Sequential(),
    lambda nn, t: nn.Sequential(OrderedDict(a=nn.Linear(1, 1))).a, lambda nn, t: nn.Sequential([nn.ReLU()]),
    lambda nn, t: nn.ModuleList([nn.ReLU()])(3), lambda nn, t: nn.ModuleDict({"a": nn.ReLU()})(3),
    lambda nn, t: nn.ModuleList(3),
    lambda nn, t: nn.ModuleList([nn.ReLU()])[3], lambda nn, t: nn.ModuleList([nn.ReLU()]).__add__([nn.Tanh()]),
    lambda nn, t: nn.ModuleDict(3), lambda nn, t: nn.ModuleDict()["a"], lambda nn, t: nn.ParameterList()[0],
    lambda nn, t: nn.ParameterList()(1), lambda nn, t: nn.ParameterDict({1: t.ones(1)}),
    lambda nn, t: nn.ParameterList(3),
    lambda nn, t: nn.ParameterList([t.ones(1)] * 3)[1:], lambda nn, t: nn.ParameterList([t.ones(1)] * 2).state_dict(),
    lambda nn, t: nn.ParameterDict({"a": t.ones(1)}).state_dict(),
    lambda nn, t: len(nn.ParameterDict({"a": t.ones(1)})),
    lambda nn, t: [*nn.ParameterDict({"b": t.ones(1), "a": t.ones(2)})],
    lambda nn, t: [*reversed(nn.ParameterDict(OrderedDict(b=t.ones(1), a=t.ones(2))))],
    lambda nn, t: (lambda d: (d.popitem(), d, d.popitem(), d))(nn.ParameterDict([("b", t.ones(1)), ("a", 3)])),
    lambda nn, t: nn.ParameterDict().popitem(), lambda nn, t: nn.ParameterDict({"a": 1}).fromkeys(["b", "a"], 2),
    lambda nn, t: (lambda d: (d.setdefault("a", 2), d.setdefault("b", 3), d))(nn.ParameterDict({"a": 1})),
    lambda nn, t: (lambda d: (d.copy()["b"] is d["b"], d.copy()))(nn.ParameterDict([("b", t.ones(1)), ("a", 3)])),
    lambda nn, t: nn.ParameterDict({"b": 1}) | nn.ParameterDict({"a": t.ones(2), "b": 2}),
    lambda nn, t: nn.ParameterDict({"b": 1}).__ior__({"a": t.ones(2), "b": 2}),
    lambda nn, t: nn.ParameterDict([("a",)]),
    lambda nn, t: nn.ParameterDict([3]), lambda nn, t: nn.ModuleDict([3]), lambda nn, t: nn.ModuleDict([("a",)]),
    lambda nn, t: nn.ParameterDict({"b": 1, 3: 2}),
    lambda nn, t: nn.Sequential(nn.ReLU()).extend(sequential=[nn.Tanh()]), lambda nn, t: nn.Sequential().extend(3),
    lambda nn, t: nn.Linear(1, 2).state_dict(OrderedDict(), "x.", True).keys(),
    lambda nn, t: nn.Linear(1, 2).state_dict({"a": 1}, prefix="x.").keys(),
    lambda nn, t: (lambda r: len([*nn.Sequential(r, r).modules(remove_duplicate=False)]))(nn.ReLU()),
    lambda nn, t: nn.ModuleDict([("a", nn.ReLU()), ("b", nn.Tanh())]).pop("a"),
    lambda nn, t: nn.ModuleDict({"a": nn.ReLU()}).items(),
    lambda nn, t: [*nn.ModuleDict({"a": nn.ReLU()})], lambda nn, t: "a" in nn.ModuleDict({"a": nn.ReLU()}),
    lambda nn, t: [*nn.ParameterDict({"a": t.ones(1)}).items()], lambda nn, t: nn.ParameterList([t.ones(1)])[-1],
    lambda nn, t: nn.ModuleDict({"keys": nn.ReLU()}), lambda nn, t: nn.ModuleList([nn.ReLU(), nn.Tanh()])[0:1],
]


@pytest.mark.parametrize("number", range(len(CONTAINERS)))
def test_containers(number: int) -> None:
    same(lambda t: CONTAINERS[number](t.nn, t))


SEQUENCE: list[Any] = [
    lambda s, nn: s[2], lambda s, nn: s["a"], lambda s, nn: s[:1], lambda s, nn: s[-1],
    lambda s, nn: s.__delitem__(0) or s,
    lambda s, nn: s.__delitem__(slice(0, 2)) or s, lambda s, nn: s.insert(0, nn.Tanh()),
    lambda s, nn: s.insert(7, nn.Tanh()),
    lambda s, nn: s.insert(0, 3), lambda s, nn: s.append(3), lambda s, nn: s.append(nn.Tanh()),
    lambda s, nn: s.extend(3),
    lambda s, nn: s.extend([nn.Tanh()]), lambda s, nn: s.pop(0), lambda s, nn: s.pop(5), lambda s, nn: s * 2,
    lambda s, nn: s * 0,
    lambda s, nn: s * 1.5, lambda s, nn: 2 * s, lambda s, nn: s + 3, lambda s, nn: s + s, lambda s, nn: len(s),
    lambda s, nn: [*s],
    lambda s, nn: s.__setitem__(0, nn.Tanh()) or s, lambda s, nn: s.__setitem__(9, nn.Tanh()),
    lambda s, nn: s.__imul__(3),
    lambda s, nn: s.__iadd__(nn.Sequential(nn.Tanh())), lambda s, nn: [*s.state_dict()],
    lambda s, nn: s.__setitem__(0, 3),
]


@pytest.mark.parametrize("number", range(len(SEQUENCE)))
def test_sequential(number: int) -> None:
    same(lambda t: SEQUENCE[number](t.nn.Sequential(t.nn.Linear(1, 1, bias=False), t.nn.ReLU()), t.nn))


# Initial values

INITIAL: list[Any] = [
    lambda i, x: i.uniform_(x, -1, 3), lambda i, x: i.normal_(x, 1, 2), lambda i, x: i.constant_(x, 3),
    lambda i, x: i.ones_(x),
    lambda i, x: i.zeros_(x), lambda i, x: i.eye_(x), lambda i, x: i.xavier_uniform_(x),
    lambda i, x: i.xavier_normal_(x, 2.0),
    lambda i, x: i.kaiming_uniform_(x), lambda i, x: i.kaiming_normal_(x, mode="fan_out", nonlinearity="relu"),
    lambda i, x: i.trunc_normal_(x, std=2.0), lambda i, x: i.trunc_normal_(x, -1.0, 0.7, 0.2, 1.0),
    lambda i, x: i.orthogonal_(x), lambda i, x: i.kaiming_uniform_(x, mode="other"),
    lambda i, x: i.kaiming_uniform_(x, nonlinearity="other"),
]


@pytest.mark.parametrize("shape", [(3, 4), (40, 5), (2, 3, 4), (3,), (0, 3)])
@pytest.mark.parametrize("number", range(len(INITIAL)))
def test_initial_values(number: int, shape: tuple[int, ...]) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        parameter = t.nn.Parameter(t.empty(*shape))
        assert INITIAL[number](t.nn.init, parameter) is parameter
        return parameter.detach(), t.tensor(parameter._version)

    compare(case)


LAYOUTS: list[Any] = [
    lambda t: t.zeros(3, 4).t(), lambda t: t.zeros(8, 6)[::2, ::2],
    lambda t: t.zeros(4, 2, 3, 3).to(memory_format=t.channels_last), lambda t: t.zeros(2, 3, dtype=t.float16),
    lambda t: t.zeros(2, 3, dtype=t.complex64)]


@pytest.mark.parametrize("made", LAYOUTS)
@pytest.mark.parametrize("number", [10, 11, 12])
def test_initial_values_of_other_layouts_and_types(number: int, made: Any) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(5)
        return INITIAL[number](t.nn.init, made(t))

    compare(case)


@pytest.mark.parametrize("name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu", "other"])
def test_gains(name: str) -> None:
    same(lambda t: t.nn.init.calculate_gain(name))
    same(lambda t: t.nn.init.calculate_gain(name, 0.3))
    same(lambda t: t.nn.init.calculate_gain(name, "text"))


# Tools

def with_gradients(t: Any, *values: Any) -> list[Any]:
    found = []
    for value in values:
        p = t.nn.Parameter(t.zeros(len(value)))
        p.grad = t.tensor(value)
        found.append(p)
    return found


@pytest.mark.parametrize("norm_type", [1, 2, 2.0, 3, float("inf")])
@pytest.mark.parametrize("limit", [1.0, 100.0])
def test_clipping_of_norms(limit: float, norm_type: float) -> None:
    def case(t: Any) -> Any:
        ps = with_gradients(t, [3.0, -4.0], [12.0])
        total = t.nn.utils.clip_grad_norm_([*ps, t.nn.Parameter(t.zeros(1))], limit, norm_type)
        return total, *(p.grad for p in ps), t.nn.utils.get_total_norm([p.grad for p in ps], norm_type)

    compare(case)
    assert as_array(case(retrograd)[0]).dtype == np.float32


TOOLS: list[Any] = [
    lambda t, u: u.clip_grad_norm_([], 1.0), lambda t, u: u.clip_grad_norm_(with_gradients(t, [3.0])[0], 1.0),
    lambda t, u: u.clip_grad_norm_(with_gradients(t, [3.0, float("nan")]), 1.0, error_if_nonfinite=True),
    lambda t, u: (lambda p: (u.clip_grad_value_([p], 2.0), p.grad))(with_gradients(t, [3.0, -4.0, 1.0])[0]),
    lambda t, u: u.parameters_to_vector([t.ones(2, requires_grad=True), t.zeros(2, 2)]),
    lambda t, u: u.parameters_to_vector([]),
    lambda t, u: (lambda p: (u.vector_to_parameters(t.arange(3.0), [p]), p, p._version))(t.nn.Parameter(t.zeros(3))),
    lambda t, u: u.vector_to_parameters(3, []),
    lambda t, u: u.vector_to_parameters(t.ones(2), [t.nn.Parameter(t.zeros(3))]),
]


@pytest.mark.parametrize("number", range(len(TOOLS)))
def test_tools(number: int) -> None:
    same(lambda t: TOOLS[number](t, t.nn.utils))
