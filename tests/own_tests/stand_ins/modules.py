"""torch.testing._internal.common_nn. Its tables of modules are empty: no test that they drive counts."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from .utils import TestCase, freeze_rng_state as freeze_rng_state

module_tests: list[Any] = []
criterion_tests: list[Any] = []
new_module_tests: list[Any] = []
_REASON = "driven by the tables of modules"


class NNTestCase(TestCase):
    """A test case with helpers for modules."""

    def _zero_grad_parameters(self, module: Any) -> None:
        for parameter in module.parameters():
            if parameter.grad is not None:
                parameter.grad.detach_().zero_()

    def _get_parameters(self, module: Any) -> tuple[list[Any], list[Any]]:
        parameters = list(module.parameters())
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        return parameters, [parameter.grad for parameter in parameters]

    def check_jacobian(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Skip the test."""
        raise unittest.SkipTest(_REASON)

    check_criterion_jacobian = _numerical_jacobian = _analytical_jacobian = check_jacobian


class NewModuleTest:
    """An entry of the tables, which is skipped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = kwargs.get("fullname") or kwargs.get("desc") or kwargs.get("module_name", "entry")

    def get_name(self) -> str:
        """The name of its test."""
        return f"test_table_{self.name}"

    def __call__(self, test_case: Any, **kwargs: Any) -> NoReturn:
        raise unittest.SkipTest(_REASON)

    test_cuda = __call__


CriterionTest = NewModuleTest


def _reduced(values: Any, reduction: str) -> Any:
    return {"none": lambda v: v, "sum": torch.sum, "mean": torch.mean}[reduction](values)


def _cosine_embedding(a: Any, b: Any, target: Any, margin: float = 0, reduction: str = "mean") -> Any:
    cosine = (a * b).sum(-1) / ((a * a).sum(-1) * (b * b).sum(-1)).sqrt()
    return _reduced(torch.where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0)), reduction)


def _margin_ranking(a: Any, b: Any, target: Any, margin: float = 0, reduction: str = "mean") -> Any:
    return _reduced((margin - target * (a - b)).clamp(min=0), reduction)


def _triplet_margin(anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
                    swap: bool = False, reduction: str = "mean") -> Any:
    def distance(x: Any, y: Any) -> Any:
        return ((x - y + eps).abs() ** p).sum(-1) ** (1 / p)

    far = distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced((margin + distance(anchor, positive) - far).clamp(min=0), reduction)


loss_reference_fns: dict[str, Callable[..., Any]] = {
    "CosineEmbeddingLoss": _cosine_embedding, "MarginRankingLoss": _margin_ranking,
    "TripletMarginLoss": _triplet_margin}


def _test_module_empty_input(test_case: Any, module: Any, inp: Any, check_size: bool = True,
                             inference: bool = False) -> None:
    """Give a module a batch without elements: its gradients are zero."""
    if not inference:
        inp.requires_grad_(True)
    out = module(inp)
    if check_size:
        test_case.assertEqual(out.size(), inp.size())
    if not inference:
        out.backward(torch.rand_like(out))
        for tensor in [inp, *module.parameters()]:
            if tensor.requires_grad:
                test_case.assertEqual(tensor.grad, torch.zeros_like(tensor))


def _test_bfloat16_ops(test_case: Any, op: Any, device: Any, inp_dims: Any = (), prec: float = 1e-2,
                       scale_factor: Any = None) -> None:
    """Compare bfloat16 with float32."""
    exact = torch.randn(inp_dims, dtype=torch.float32, device=device, requires_grad=True)
    rough = exact.detach().bfloat16().requires_grad_(True)
    outputs = [op(exact), op(rough)]
    gradient = torch.randn_like(outputs[0])
    outputs[0].backward(gradient)
    outputs[1].backward(gradient.bfloat16())
    test_case.assertEqual(outputs[0], outputs[1], atol=prec, rtol=prec, exact_dtype=False)
    test_case.assertEqual(exact.grad, rough.grad, atol=prec, rtol=prec, exact_dtype=False)


def ctcloss_reference(*args: Any, **kwargs: Any) -> NoReturn:
    """Skip the test."""
    raise unittest.SkipTest(_REASON)


single_batch_reference_fn = ctcloss_reference
