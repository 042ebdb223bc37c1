"""Functions that PyTorch keeps for its own layers, and that programs call all the same."""

from __future__ import annotations

import warnings
from functools import partial
from importlib import import_module
from typing import Any

import pytest

import retrograd
from comparing.same_text import LIBRARIES, same

for library in LIBRARIES:
    import_module(f"{library.__name__}.nn.utils.prune")

X = "torch.arange(6.).reshape(2, 3)"
HIDDEN = "torch.tensor([[True, True, True], [False, True, False]])"
STACK = "torch.arange(36.).reshape(2, 2, 3, 3).sin()"
CALLS = [
    f"torch._masked_softmax({X}, {HIDDEN}, 1, 2)", f"torch._masked_softmax({X}, {HIDDEN}, 0, 2)",
    f"torch._masked_softmax({X}, {HIDDEN})", f"torch._masked_softmax({X}, {HIDDEN}, 1, 1)",
    f"torch._masked_softmax({X}, {HIDDEN}, 1, 7)", f"torch._masked_softmax({X}, {HIDDEN}, 5, 2)",
    f"torch._masked_softmax({X}, {X}, 1, 2)", f"torch._masked_softmax({X}, {HIDDEN}[:, :2], 1, 2)",
    f"torch._masked_softmax({X}.long(), {HIDDEN}, 1, 2)",
    f"torch._masked_softmax({STACK}, torch.eye(3).bool(), 3, 0)",
    f"torch._masked_softmax({STACK}, torch.eye(2, 3).bool(), 3, 1)",
    f"torch._masked_softmax({STACK}, torch.eye(2, 3).bool(), 3, 0)",
    f"torch._masked_softmax({STACK}, torch.eye(4).bool(), 3, 1)",
    f"torch._softmax({X}, 1, False)", f"torch._softmax({X}, 1, True)", f"torch._log_softmax({X}, 0, False)",
    f"torch._log_softmax({X}, 0, True)", f"torch._VF._add_relu({X} - 3, {X})", f"torch._add_relu({X} - 3, 1, 2)",
    f"torch._add_relu({X} - 3, {X}, alpha=0.1)", f"torch._add_relu_({X} - 3, 1)", f"torch._add_relu({X}.long(), {X})",
    "torch._unique(torch.tensor([3, 1, 3]))", "torch._unique(torch.tensor([3, 1, 3]), False, True)",
    "torch._unique2(torch.tensor([3, 1, 3]))", "torch._unique2(torch.tensor([3, 1, 3]), True, True, True)",
    "torch._unique2(torch.tensor([3, 1, 3]), return_counts=True)",
    "torch._VF.unique_dim(torch.tensor([[3, 1], [3, 1]]), 0)",
    "torch._grid_sampler_2d_cpu_fallback(torch.arange(9.).reshape(1, 1, 3, 3), torch.zeros(1, 1, 2, 2), 0, 0, False)",
    "torch._utils._element_size(torch.float64)", "torch._utils._element_size(3)",
    "torch.nn.functional.grad.conv1d_input((1, 1, 4), torch.ones(1, 1, 2), torch.ones(1, 1, 3))",
    "torch.nn.utils.prune._validate_pruning_amount_init(1.5)",
    "torch.nn.utils.prune._validate_pruning_amount_init('a')",
    "torch.nn.utils.prune._validate_pruning_amount(7, 5)", "torch.nn.utils.prune._validate_pruning_amount(0.5, 5)",
    "[torch.nn.utils.prune._compute_nparams_toprune(amount, 5) for amount in (0.5, 7, 0.3)]",
    "torch.nn.utils.prune._validate_structured_pruning(torch.ones(3))",
    "torch.nn.utils.prune._validate_pruning_dim(torch.ones(3, 3), 2)",
    f"torch.nn.utils.prune._compute_norm({X}, 2, -1)", f"torch.nn.utils.prune._compute_norm({X}, 1, 0)",
    "[torch.nn.RNN(1, 2).nonlinearity, torch.nn.RNN(1, 2, nonlinearity='relu').nonlinearity]",
    "[torch.zeros(2).storage().is_shared(), torch.zeros(2).share_memory_().storage().is_shared(),"
    " torch.zeros(2).share_memory_()[1:].untyped_storage().is_shared()]",
    "torch.narrow(torch.arange(9), 0, torch.tensor(3), 2)", "torch.narrow(torch.arange(9), 0, torch.tensor([3]), 2)",
    "torch.narrow(torch.arange(9), 0, torch.tensor(3.), 2)", "torch.narrow(torch.arange(9), 0, torch.tensor(True), 2)",
    "torch.zeros(3).resize_(2 ** 30, 2 ** 31)", "torch.zeros(3).resize_(2 ** 30, 2 ** 31, 2 ** 9)",
    "[torch.promote_types(torch.complex32, kind) for kind in (torch.bool, torch.int64, torch.float16, torch.bfloat16,"
    " torch.float32, torch.float64, torch.complex32, torch.complex64, torch.complex128)]",
    "torch.promote_types(torch.float64, torch.complex32)",
    "torch.rand(6, 3)[:, 1:3].view(torch.float64)", "torch.rand(6, 3)[:, :2].view(torch.float64)",
]


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    same(lambda t: eval(call, {"torch": t}))


def test_a_refused_resize_leaves_the_tensor_as_it_is() -> None:
    x = retrograd.zeros(3)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        x.resize_(2 ** 30, 2 ** 31)
    assert x.tolist() == [0, 0, 0]


def test_gradients_of_a_masked_softmax() -> None:
    def case(t: Any) -> Any:
        x = t.arange(6.).sin().reshape(2, 3).requires_grad_()
        mask = t.tensor([[True, False, False], [False, False, True]])
        t._masked_softmax(x, mask, 1, 2).square().sum().backward()
        return x.grad

    same(case)


def test_the_former_names_of_grad_and_grad_fn() -> None:
    def case(t: Any) -> Any:
        leaf = t.ones(2, requires_grad=True)
        y = leaf * 2
        leaf._grad = t.tensor([1., 2.])
        found = [leaf.grad, leaf._grad_fn, type(y._grad_fn).__name__]
        y._grad_fn = None
        return [*found, y.requires_grad, y.grad_fn]

    same(case)


@pytest.mark.parametrize("statement", ["del x._grad_fn", "x._grad_fn = x", "x._grad = x[:1].detach()", "del x._grad"])
def test_what_may_not_be_assigned(statement: str) -> None:
    same(lambda t: exec(statement, {"x": t.ones(2, requires_grad=True)}))


@pytest.mark.parametrize("arguments", [
    "torch.device('cpu'), True", "None, True", "[]", "{}, non_blocking=True", "torch.device('cpu'), torch.tensor(3)",
    "torch.device('cpu'), torch.float64, False", "torch.float64, False", "torch.ones(1).double(), False",
    "other=torch.ones(1)", "dtype=torch.float64, bogus=1", "torch.float64, 'cpu'", "'cpu', copy=True",
    "torch.ones(1), False, True", "torch.long", "torch.complex64", "dtype=torch.complex128"])
def test_the_conversion_of_a_module(arguments: str) -> None:
    def case(t: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                net = eval(f"net.to({arguments})", {"torch": t, "net": t.nn.Linear(1, 1)})
            except (RuntimeError, TypeError) as error:
                return type(error).__name__, str(error).rstrip()
        return net.weight.dtype, [str(warning.message) for warning in caught]

    same(case)


def test_a_module_that_becomes_sparse() -> None:
    def case(t: Any) -> Any:
        layer = t.nn.Linear(3, 2)
        weight = layer.weight
        layer._apply(lambda x: x.to_sparse())
        return layer.weight.layout, weight.layout, layer.weight is weight

    same(case)


@pytest.mark.parametrize("override", [False, True])
def test_the_warning_about_the_order_of_steps(override: bool) -> None:
    texts = []
    for t in LIBRARIES:
        optimizer = t.optim.SGD([t.nn.Parameter(t.ones(1))], 0.1)
        schedule = t.optim.lr_scheduler.StepLR(optimizer, 3)
        if override:
            optimizer.step = partial(type(optimizer).step, optimizer)
            optimizer.step()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schedule.step()
            schedule.step(5)
        texts.append([str(warning.message) for warning in caught])
    assert texts[0] == texts[1]
    assert len(texts[0]) == 2


def test_views_of_inference_tensors_have_no_history() -> None:
    def case(t: Any) -> Any:
        with t.inference_mode():
            x = t.ones(2, 3, requires_grad=True)
        y = x.view(-1)
        return y.requires_grad, y._is_view(), y.is_leaf, y.is_inference()

    same(case)


@pytest.mark.parametrize("call", [
    "F.pad(x, (1, 1, 1, 1))", "F.pad(x, (0, 1))", "F.pad(x.transpose(2, 3), (1, 1))", "bn(x)", "bn.eval()(x)",
    "bn(x.contiguous())", "bn.eval()(torch.arange(12.).reshape(1, 3, 4, 1).permute(0, 2, 1, 3))",
    "F.pad(torch.zeros(2, 2, 3, 3, 3).to(memory_format=torch.channels_last_3d), (1, 1))"])
def test_layouts_that_follow_the_channels(call: str) -> None:
    def case(t: Any) -> Any:
        x = t.arange(72.).reshape(2, 4, 3, 3).to(memory_format=t.channels_last)
        y = eval(call, {"torch": t, "F": t.nn.functional, "x": x, "bn": t.nn.BatchNorm2d(4)})
        return y.stride(), (y.sum() + 100).round()

    same(case)


def test_a_threshold_writes_over_repeated_memory() -> None:
    def case(t: Any) -> Any:
        x = t.arange(3.).expand(2, 3)
        return t.nn.functional.threshold_(x, 1., 7.)

    same(case)


def test_the_copy_of_a_gradient_has_a_place_for_what_it_is_written_over() -> None:
    def case(t: Any) -> Any:
        x = t.ones(2, requires_grad=True)
        (x * x).sum().backward(create_graph=True)
        return type(x.grad.grad_fn).__name__, [type(node).__name__ for node, _ in x.grad.grad_fn.next_functions]

    same(case)


def test_anomaly_mode_tells_what_a_filter_makes_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    def run(t: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with t.autograd.detect_anomaly():
                warnings.simplefilter("error")
                x = t.ones(2, requires_grad=True)
                y = x + 1
                z = y ** 2
                y += 1
                t.autograd.grad(z.sum(), x)

    told = []
    for t in LIBRARIES:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            run(t)
        told.append("Error detected in PowBackward0" in capfd.readouterr().err)
    assert told == [True, True]
