"""Optimizers and schedules: the formulas, step by step, the bookkeeping and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from retrograd import nn
from retrograd.optim import SGD, Adam, AdamW, Optimizer, SparseAdam, lr_scheduler
from retrograd.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=4)


def parameter(values: Any, dtype: torch.dtype = torch.float64) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values, dtype=dtype))


def stepped(optimizer: Optimizer, p: nn.Parameter, gradients: Any) -> np.ndarray[Any, Any]:
    for g in gradients:
        p.grad = torch.tensor(g, dtype=p.dtype)
        optimizer.step()
    return p.detach().numpy()


@given(numbers, st.floats(0, 1), st.floats(0, 0.99), st.floats(0, 0.9), st.booleans())
def test_sgd_by_its_definition(start: list[float], lr: float, momentum: float, decay: float, uphill: bool) -> None:
    gradients = [[math.sin(i + k) for i in range(len(start))] for k in range(4)]
    p = parameter(start)
    found = stepped(SGD([p], lr=lr, momentum=momentum, weight_decay=decay, maximize=uphill), p, gradients)
    x, buffer = np.array(start), None
    for values in gradients:
        g = (-1 if uphill else 1) * np.array(values) + decay * x
        buffer = g if buffer is None else momentum * buffer + g
        x = x - lr * (buffer if momentum else g)
    np.testing.assert_allclose(found, x, rtol=1e-12, atol=1e-12)


def test_nesterov_and_dampening() -> None:
    p, q = parameter([1.0]), parameter([1.0])
    assert stepped(SGD([p], lr=0.1, momentum=0.5, nesterov=True), p, [[1.0], [1.0]])[0] == pytest.approx(0.675)
    assert stepped(SGD([q], lr=0.1, momentum=0.5, dampening=0.5), q, [[1.0], [1.0]])[0] == pytest.approx(0.8)


@given(numbers, st.floats(1e-4, 0.1), st.floats(0, 0.95), st.floats(0.1, 0.999), st.booleans())
def test_adam_by_its_definition(start: list[float], lr: float, first: float, second: float, amsgrad: bool) -> None:
    gradients = [[math.sin(i + k) for i in range(len(start))] for k in range(4)]
    p = parameter(start)
    found = stepped(Adam([p], lr=lr, betas=(first, second), weight_decay=0.1, amsgrad=amsgrad), p, gradients)
    x, m, v, largest = np.array(start), np.zeros(len(start)), np.zeros(len(start)), np.zeros(len(start))
    for k, values in enumerate(gradients, 1):
        g = np.array(values) + 0.1 * x
        m, v = first * m + (1 - first) * g, second * v + (1 - second) * g * g
        largest = np.maximum(largest, v)
        scale = np.sqrt((largest if amsgrad else v) / (1 - second**k)) + 1e-8
        x = x - lr * m / (1 - first**k) / scale
    np.testing.assert_allclose(found, x, rtol=1e-9, atol=1e-9)


def test_adamw_shrinks_the_parameters_themselves() -> None:
    p = parameter([2.0])
    assert stepped(AdamW([p], lr=0.1, weight_decay=0.5), p, [[0.0]])[0] == pytest.approx(1.9)


def test_a_large_parameter_is_changed_in_blocks() -> None:
    size = 300_001
    p = nn.Parameter(torch.ones(size))
    p.grad = torch.full((size,), 2.0)
    SGD([p], lr=0.25).step()
    assert (p.detach().numpy() == 0.5).all()


def test_a_step_is_a_write_that_saved_values_notice() -> None:
    p = parameter([1.0, 2.0])
    optimizer = SGD([p], lr=0.1)
    loss = (p * p).sum()
    p.grad = torch.ones(2, dtype=torch.float64)
    before = p._version
    optimizer.step()
    assert p._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_has_no_gradient_stays() -> None:
    p, q = parameter([1.0]), parameter([1.0])
    optimizer = Adam([p, q], lr=0.1)
    p.grad = torch.ones(1, dtype=torch.float64)
    optimizer.step()
    assert q.item() == 1.0
    assert q not in optimizer.state
    optimizer.zero_grad()
    assert p.grad is None


def test_gradients_may_be_filled_with_zeros_instead() -> None:
    p = parameter([1.0])
    (p * 2).sum().backward()
    grad = p.grad
    SGD([p]).zero_grad(set_to_none=False)
    assert p.grad is grad
    assert p.grad is not None
    assert p.grad.item() == 0.0


def test_groups_have_options_of_their_own() -> None:
    p, q = parameter([1.0]), parameter([1.0])
    optimizer = SGD([{"params": [p], "lr": 0.5}, {"params": q}], lr=0.1)
    p.grad, q.grad = torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    optimizer.step()
    assert (p.item(), q.item()) == (0.5, 0.9)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [p]})


@pytest.mark.parametrize("make", [lambda p: SGD([p], lr=0.1, momentum=0.9), lambda p: Adam([p], lr=0.1, amsgrad=True)])
def test_a_loaded_state_goes_on_as_the_saved_one(make: Any) -> None:
    p, q = parameter([1.0, -1.0]), parameter([1.0, -1.0])
    first, second = make(p), make(q)
    stepped(first, p, [[1.0, 2.0]] * 3)
    with torch.no_grad():
        q.copy_(p)
    second.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    assert (stepped(first, p, [[0.5, 1.0]] * 3) == stepped(second, q, [[0.5, 1.0]] * 3)).all()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        first.load_state_dict({"state": {}, "param_groups": []})


def test_a_copy_of_an_optimizer_has_its_own_parameters() -> None:
    p = parameter([1.0])
    optimizer = Adam([p], lr=0.1)
    twin = copy.deepcopy(optimizer)
    stepped(optimizer, p, [[1.0]])
    assert twin.param_groups[0]["params"][0].item() == 1.0
    twin.step()


def test_a_closure_runs_with_recording_on() -> None:
    p = parameter([1.0])
    optimizer = SGD([p], lr=0.1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.item() == pytest.approx(0.8)


class Signs(Optimizer):
    """What a user writes: steps of one size."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1


def test_an_optimizer_of_ones_own() -> None:
    p, seen = parameter([1.0, 1.0]), []
    optimizer = Signs([p])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    np.testing.assert_allclose(stepped(optimizer, p, [[5.0, -0.1]]), [0.9, 1.1])
    assert seen == ["before", "after"]
    assert optimizer.state_dict()["state"] == {0: {"steps": 1}}


def test_a_hook_before_a_step_may_replace_the_arguments() -> None:
    p, calls = parameter([1.0]), []
    optimizer = SGD([p], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: calls.append("replaced")), {}))
    optimizer.step(lambda: calls.append("given"))
    assert calls == ["replaced"]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: (o, args, kwargs))
    with pytest.raises(RuntimeError, match="<function SGD.step at 0x.*> must return None or a tuple of .*, but"):
        optimizer.step()


def test_hooks_of_all_optimizers_stand_around_the_own_ones() -> None:
    p, seen = parameter([1.0]), []
    handles = [register_optimizer_step_pre_hook(lambda *_: seen.append("every pre")),
               register_optimizer_step_post_hook(lambda *_: seen.append("every post"))]
    optimizer = SGD([p])
    optimizer.register_step_pre_hook(lambda *_: seen.append("pre"))
    optimizer.register_step_post_hook(lambda *_: seen.append("post"))
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert seen == ["every pre", "pre", "post", "every post", "pre", "post"]


def test_sparse_adam_refuses_dense_gradients() -> None:
    p = parameter([1.0])
    optimizer = SparseAdam([p])
    assert optimizer.step(lambda: 3) == 3
    p.grad = torch.ones(1, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam inste"):
        optimizer.step()


def test_hooks_see_and_replace_states() -> None:
    seen: list[str] = []
    optimizer = SGD([parameter([1.0])], lr=0.5)
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("before"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 3})
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("second"))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_load_state_dict_pre_hook(
        lambda o, state: {**state, "param_groups": [{**state["param_groups"][0], "lr": 7}]})
    state = optimizer.state_dict()
    assert state["more"] == 3
    optimizer.load_state_dict(state)
    assert seen == ["before", "first", "second"]
    assert optimizer.param_groups[0]["lr"] == 7


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda p: SGD([p], fused=True, foreach=True), RuntimeError, "`fused` and `foreach` cannot be `True` together"),
    (lambda p: SGD([p], fused=True, differentiable=True), RuntimeError, "`fused` does not support `differentiable`"),
    (lambda p: SGD([]), ValueError, "optimizer got an empty parameter list"),
    (lambda p: SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
    (lambda p: SGD(p), TypeError, "should be an iterable of Tensors or dicts, but got torch.DoubleTensor"),
    (lambda p: SGD([3]), TypeError, "can only optimize Tensors, but one of the params is int"),
    (lambda p: SGD([p], lr=-1), ValueError, "Invalid learning rate: -1"),
    (lambda p: SGD([p], nesterov=True), ValueError, "Nesterov momentum requires a momentum"),
    (lambda p: Adam([p], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
    (lambda p: SparseAdam([p], lr=0), ValueError, "Invalid learning rate: 0"),
    (lambda p: SparseAdam([p], eps=0), ValueError, "Invalid epsilon value: 0"),
    (lambda p: SparseAdam([nn.Parameter(p * 1j)]), ValueError, r"Complex params at indices \[\[0, 0\]\]: SparseAdam"),
    (lambda p: Adam([p], betas=(0, 0.9)), ValueError, "betas must be either both floats or both Tensors"),
    (lambda p: Adam([p], fused=True, differentiable=True), RuntimeError, "`fused` does not support `differentiable`"),
])
def test_what_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(parameter([1.0]))


class Hiding(nn.Module):
    """A module with something in a container that it does not look into."""

    def __init__(self, hidden: Any) -> None:
        super().__init__()
        self.hidden = hidden


INSTEAD = "  instead    pass its parameters: model.parameters()"


@pytest.mark.parametrize(("make", "notes"), [
    (lambda: SGD(nn.Linear(1, 1)), [INSTEAD]),
    (lambda: SGD(nn.Sequential(nn.Linear(1, 1))), [INSTEAD]),                 # a list of its modules
    (lambda: SGD([{"params": nn.Linear(1, 1)}]), [INSTEAD]),
    (lambda: SGD(nn.Linear(1, 1).parameters), []),
    (lambda: SGD(3), []),
    (lambda: SGD([]), []),
    (lambda: SGD(nn.ReLU().parameters()), ["  because    ReLU has no parameters"]),
    (lambda: SGD(p for p in []), []),
    (lambda: SGD(Hiding([nn.ReLU(), nn.Linear(1, 1)]).parameters()), [
        "  because    Hiding.hidden is a list, so Hiding does not know the 2 modules in it",
        "  instead    self.hidden = torch.nn.ModuleList(…)"]),
    (lambda: SGD(nn.Sequential(Hiding({"a": parameter([1.0])})).parameters()), [
        "  because    Hiding.hidden is a dict, so Hiding does not know the 1 parameter in it",
        "  instead    self.hidden = torch.nn.ParameterDict(…)"]),
    (lambda: SGD(Hiding(["words"]).parameters()), ["  because    Hiding has no parameters"]),
])
def test_what_the_notes_say_of_wrong_parameters(make: Any, notes: list[str]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        make()
    assert getattr(caught.value, "__notes__", []) == notes


def test_a_generator_that_was_used_up_is_told_from_one_that_gives_nothing() -> None:
    parameters = nn.Linear(1, 1).parameters()
    SGD(parameters)
    said = "^optimizer got an empty parameter list\n  because    this generator was used up"
    with pytest.raises(ValueError, match=said):
        SGD(parameters)


def test_a_recorded_step_has_a_gradient_by_the_learning_rate() -> None:
    # d/dlr of (x - lr * 2x)^2 at x = 1, lr = 0.1; the first step of Adam is lr * sign(g).
    for make, change in ((SGD, -2.0), (Adam, -1.0), (AdamW, -1.01)):
        x, lr = parameter([1.0]), torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
        p = x.clone()
        p.grad, = torch.autograd.grad((p * p).sum(), p, create_graph=True)
        make([p], lr=lr, differentiable=True).step()  # type: ignore[operator]
        slope, = torch.autograd.grad(p.sum(), lr)
        assert slope.item() == pytest.approx(change, rel=1e-4)


def test_a_recorded_step_needs_tensors_that_are_no_leaves() -> None:
    p = parameter([1.0])
    p.grad = torch.ones(1, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place op"):
        SGD([p], differentiable=True).step()
    with pytest.raises(AssertionError, match="If capturable=True, params and state_steps must be on supported devic"):
        Adam([p], capturable=True).step()


def test_ways_to_compute_a_step_that_make_no_difference() -> None:
    for options in ({"fused": True}, {"foreach": True}, {"fused": True, "foreach": False}):
        p = parameter([1.0])
        np.testing.assert_allclose(stepped(SGD([p], lr=0.1, **options), p, [[1.0]]), [0.9])


def test_what_an_optimizer_prints() -> None:
    text = repr(SGD([{"params": parameter([1.0])}, {"params": parameter([1.0]), "lr": 1}], lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n")
    assert "\n    lr: 0.1\n" in text
    assert "\n\nParameter Group 1\n" in text
    assert text.endswith("\n    weight_decay: 0\n)")


def course(make: Any, epochs: int = 6) -> list[float]:
    optimizer = SGD([parameter([1.0])], lr=1.0)
    schedule = make(optimizer)
    rates = []
    for _ in range(epochs):
        optimizer.step()
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


def test_schedules() -> None:
    assert course(lambda o: lr_scheduler.StepLR(o, 2, 0.5)) == [1, 0.5, 0.5, 0.25, 0.25, 0.125]
    assert course(lambda o: lr_scheduler.MultiStepLR(o, [1, 4], 0.5)) == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25]
    assert course(lambda o: lr_scheduler.ExponentialLR(o, 0.5), 3) == [0.5, 0.25, 0.125]
    assert course(lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)), 3) == [1 / 2, 1 / 3, 1 / 4]
    assert course(lambda o: lr_scheduler.CosineAnnealingLR(o, 4), 5) == pytest.approx(
        [(1 + math.cos(math.pi * k / 4)) / 2 for k in range(1, 6)])
    assert course(lambda o: lr_scheduler.CosineAnnealingLR(o, 4, eta_min=0.2), 5) == pytest.approx(
        [0.2 + 0.8 * (1 + math.cos(math.pi * k / 4)) / 2 for k in range(1, 6)])


def test_a_schedule_is_saved_and_loaded() -> None:
    optimizer = SGD([parameter([1.0])], lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other = lr_scheduler.StepLR(SGD([parameter([1.0])], lr=1.0), 7)
    other.load_state_dict(schedule.state_dict())
    assert (other.last_epoch, other.step_size, other.get_last_lr()) == (3, 2, [0.5])


def test_a_schedule_before_the_optimizer_warns() -> None:
    schedule = lr_scheduler.StepLR(SGD([parameter([1.0])]), 2)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before `optimizer.step\\(\\)`"):
        schedule.step()


def test_an_optimizer_around_another_runs_without_the_constructor() -> None:
    class Around(torch.optim.Optimizer):
        def __init__(self, inner: torch.optim.Optimizer) -> None:
            self.inner, self.param_groups = inner, inner.param_groups
            self._patch_step_function()

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    x = torch.ones(1, requires_grad=True)
    optimizer = Around(torch.optim.SGD([x], lr=0.5))
    x.grad = torch.ones(1)
    optimizer.step()
    assert x.tolist() == [0.5]
    optimizer.zero_grad()
    assert x.grad is None
