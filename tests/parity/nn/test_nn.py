"""Modules against PyTorch: what they hold and print, hooks, saving and loading, errors."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_text import same

LIBRARIES = (torch, retrograd)


def model(t: Any) -> Any:
    """A module with all kinds of members."""

    class Net(t.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = t.nn.Linear(2, 3)
            self.scale = t.nn.Parameter(t.ones(1))
            self.register_buffer("mean", t.zeros(2))
            self.register_buffer("scratch", t.zeros(2), persistent=False)
            self.register_buffer("absent", None)
            self.register_parameter("nothing", None)
            self.rest = t.nn.Sequential(t.nn.ReLU(), t.nn.Linear(3, 1, bias=False))
            self.size = 5

        def forward(self, x: Any) -> Any:
            return self.rest(self.first(x)) * self.scale

    t.manual_seed(0)
    return Net()


# Parameters

PARAMETERS: list[Any] = [
    lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.nn.Parameter(t.ones(()), requires_grad=False),
    lambda t: t.nn.Parameter(),
    lambda t: t.nn.Parameter(t.ones(2, dtype=t.int64)), lambda t: t.nn.Parameter(t.ones(2, dtype=t.int64), False),
    lambda t: t.nn.Parameter([1.0]), lambda t: t.nn.Parameter(3.0), lambda t: t.nn.Parameter(None),
    lambda t: (t.nn.Parameter(t.ones(2)) * 2), lambda t: t.nn.Parameter(t.ones(2)).detach(),
    lambda t: t.nn.Parameter(t.ones(2, requires_grad=True) * 2).is_leaf,
    lambda t: copy.deepcopy(t.nn.Parameter(t.ones(3).expand(2, 3))).stride(),
    lambda t: copy.deepcopy(t.nn.Parameter(t.ones(2, 4, 3).transpose(0, 2)[::2])).stride(),
    lambda t: copy.deepcopy(t.nn.Parameter(t.ones(2))), lambda t: pickle.loads(pickle.dumps(t.nn.Parameter(t.ones(2)))),
    lambda t: [type(f(t.nn.Parameter(t.ones(2)))).__name__ for f in
               (lambda p: p.data, lambda p: p[0], lambda p: p.clone(), lambda p: p.float(),
               lambda p: p.double(), copy.copy)],
    lambda t: t.nn.Buffer(t.ones(2)),
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters(case: Any) -> None:
    same(case)


def test_a_parameter_shares_memory_and_version() -> None:
    def case(t: Any) -> Any:
        data = t.ones(2)
        p = t.nn.Parameter(data)
        data.add_(1)
        return p, p._version, data._version

    same(case)


# Modules: members

MEMBERS: list[Any] = [
    lambda m, t: m, lambda m, t: [n for n, _ in m.named_parameters()], lambda m, t: [n for n, _ in m.named_buffers()],
    lambda m, t: [n for n, _ in m.named_modules()], lambda m, t: [n for n, _ in m.named_children()],
    lambda m, t: [n for n, _ in m.named_parameters("x", recurse=False)], lambda m, t: len([*m.parameters()]),
    lambda m, t: [n for n, _ in m.named_modules(remove_duplicate=False)], lambda m, t: len([*m.buffers(recurse=False)]),
    lambda m, t: [*m.state_dict()], lambda m, t: m.state_dict()._metadata, lambda m, t: m.state_dict(),
    lambda m, t: m.state_dict(prefix="a.", keep_vars=True)["a.scale"], lambda m, t: m.other,
    lambda m, t: setattr(m, "scale", t.ones(1)), lambda m, t: setattr(m, "scale", 3),
    lambda m, t: setattr(m, "first", 3),
    lambda m, t: setattr(m, "mean", 3), lambda m, t: setattr(m, "mean", t.nn.Parameter(t.ones(2))) or [*m.state_dict()],
    lambda m, t: setattr(m, "first", None) or m, lambda m, t: setattr(m, "first", None) or m(t.ones(2)),
    lambda m, t: setattr(m, "size", t.nn.Parameter(t.ones(2))) or (m.size, "size" in vars(m)),
    lambda m, t: setattr(m, "scale", None) or [*m.state_dict()],
    lambda m, t: delattr(m, "scale") or [*m.state_dict()], lambda m, t: delattr(m, "other"),
    lambda m, t: delattr(m, "first") or m,
    lambda m, t: delattr(m, "scratch") or m._non_persistent_buffers_set,
    lambda m, t: setattr(m, "new", t.nn.Buffer(t.ones(1)))
    or [*m.state_dict()], lambda m, t: setattr(m, "new", t.nn.Buffer(t.ones(1), persistent=False)) or [*m.state_dict()],
    *(lambda m, t, n=n: m.register_parameter(n, t.nn.Parameter(t.ones(1)))
      for n in ("a.b", "", "first", 3, "forward", "ok")),
    lambda m, t: m.register_parameter("x", 3), lambda m, t: m.register_parameter("x", t.ones(1)),
    *(lambda m, t, n=n: m.register_buffer(n, t.ones(1)) for n in ("a.b", "", "first", 3, "forward", "ok")),
    lambda m, t: m.register_buffer("x", 3), lambda m, t: m.add_module("x", 3),
    lambda m, t: m.add_module("x", None) or m,
    *(lambda m, t, n=n: m.add_module(n, t.nn.ReLU()) for n in ("a.b", "", 3, "forward", "size", "ok")),
    *(lambda m, t, n=n: m.get_submodule(n) for n in ("rest.1", "", "rest.7", "size", "scale")),
    *(lambda m, t, n=n: m.get_parameter(n) for n in ("first.weight", "first.other", "mean", "no.such")),
    *(lambda m, t, n=n: m.get_buffer(n) for n in ("mean", "first.weight", "other")),
    lambda m, t: m.get_extra_state(), lambda m, t: m.train(3), lambda m, t: m.eval().rest[1].training,
    lambda m, t: m.requires_grad_(False).scale, lambda m, t: m.to(t.int64), lambda m, t: m.to("cpu") is m,
    lambda m, t: m.double().state_dict(), lambda m, t: m.half().scale, lambda m, t: m.double().float().scale is m.scale,
    lambda m, t: m.to(t.ones(1, dtype=t.float64)).mean, lambda m, t: m.to(device="cpu", dtype=t.float64).first,
    lambda m, t: m.type(t.float64).scale, lambda m, t: m.apply(lambda x: setattr(x, "seen", True)).rest[0].seen,
    lambda m, t: m.zero_grad(), lambda m, t: [n for n in dir(m) if n in ("first", "scale", "mean", "size", "forward")],
    lambda m, t: copy.deepcopy(m).state_dict(), lambda m, t: copy.deepcopy(m).scale is m.scale,
    lambda m, t: m(t.ones(4, 2)), lambda m, t: t.nn.Module()(2), lambda m, t: t.nn.Module(1),
    lambda m, t: t.nn.Module(a=1),
    lambda m, t: t.nn.Module(),
]


@pytest.mark.parametrize("number", range(len(MEMBERS)))
def test_members(number: int) -> None:
    same(lambda t: MEMBERS[number](model(t), t))


def test_what_comes_before_init_is_refused() -> None:
    def assigning(make: Any) -> Any:
        def case(t: Any) -> Any:
            class Early(t.nn.Module):  # type: ignore[misc, name-defined]
                def __init__(self) -> None:
                    self.x = make(t)

                def forward(self, x: Any) -> Any:
                    return x

            return Early()(3)

        return case

    for make in (lambda t: t.nn.ReLU(), lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.ones(2), lambda t: 3):
        same(assigning(make))


# Saving and loading

def test_loading_tells_what_does_not_fit() -> None:
    def spoilt(t: Any, m: Any) -> Any:
        state = m.state_dict()
        del state["scale"]
        state.update({"extra": 1, "first.weight": t.ones(3, 3), "first.bias": "text", "other.name": t.ones(1)})
        return state

    for case in (lambda t, m: m.load_state_dict({}), lambda t, m: m.load_state_dict(m.state_dict()),
                 lambda t, m: m.load_state_dict(3), lambda t, m: m.load_state_dict({"scale": t.ones(1)}, strict=False)):
        same(lambda t, case=case: case(t, model(t)))
    for strict in (True, False):
        texts = []
        for library in LIBRARIES:
            m = model(library)
            with pytest.raises(RuntimeError) as caught:
                m.load_state_dict(spoilt(library, m), strict=strict)
            texts.append(str(caught.value))
        assert texts[1] == texts[0]


@pytest.mark.parametrize("assign", [False, True])
def test_loading_brings_back_what_was_saved(assign: bool) -> None:
    def case(t: Any) -> Any:
        m, other = model(t), model(t)
        with t.no_grad():
            for p in m.parameters():
                p.mul_(2)
        state, before = m.state_dict(), other.scale
        other.load_state_dict(pickle.loads(pickle.dumps(state)), assign=assign)
        return other.state_dict(), other.scale is before, other.scale

    same(case)


# Hooks

def hooked(t: Any, needs_grad: bool, change: bool) -> list[Any]:
    m, log = model(t), []
    x = t.ones(4, 2, requires_grad=needs_grad)

    def shapes(values: Any) -> list[Any]:
        return [None if v is None else tuple(v.shape) for v in (values if isinstance(values, tuple) else (values,))]

    m.first.register_forward_pre_hook(lambda mod, args: log.append(("pre", shapes(args))) or (
        (args[0] * 2,) if change else None))
    m.first.register_forward_hook(lambda mod, args, out: log.append(("post", shapes(args), shapes(out))) or (
        out + 1 if change else None))
    m.rest.register_forward_hook(lambda mod, args, kwargs, out: log.append(("kw", kwargs)), with_kwargs=True)
    m.first.register_full_backward_pre_hook(lambda mod, g: log.append(("bpre", shapes(g))) or (
        (g[0] * 3,) if change else None))
    handle = m.first.register_full_backward_hook(lambda mod, gi, go: log.append(
        ("back", shapes(gi), shapes(go), go[0].sum().item())) or ((gi[0] * 2,) if change and needs_grad else None))
    m.rest.register_full_backward_hook(lambda mod, gi, go: log.append(("rest", shapes(gi), shapes(go))))
    m.register_full_backward_hook(lambda mod, gi, go: log.append(("all", shapes(gi), shapes(go))))
    out = m(x)
    log.append(out.grad_fn.name())
    out.sum().backward()
    log += [None if x.grad is None else x.grad.tolist(), m.first.weight.grad.tolist(), m.scale.grad.tolist()]
    handle.remove()
    m.zero_grad()
    m(x).sum().backward()
    return log


@pytest.mark.parametrize("needs_grad", [False, True])
@pytest.mark.parametrize("change", [False, True])
def test_hooks(needs_grad: bool, change: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (hooked(library, needs_grad, change) for library in LIBRARIES)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(other, list):
            np.testing.assert_allclose(mine, other, rtol=1e-5)
        elif isinstance(other, tuple) and other[0] == "back":
            assert mine[:3] == other[:3]
            np.testing.assert_allclose(mine[3], other[3], rtol=1e-5)
        else:
            assert mine == other


def test_in_place_on_what_a_backward_hook_handed_on_is_refused() -> None:
    def case(t: Any) -> Any:
        m = t.nn.Sequential(t.nn.ReLU(inplace=True))
        m[0].register_full_backward_hook(lambda mod, gi, go: None)
        return m(t.ones(2, requires_grad=True) * 2)

    same(case)


def test_hooks_that_are_always_called() -> None:
    def case(t: Any) -> Any:
        m, log = t.nn.Linear(2, 2), []
        m.register_forward_hook(lambda mod, args, out: log.append(out), always_call=True)
        with pytest.raises(RuntimeError):
            m(t.ones(3))
        return log

    same(case)
