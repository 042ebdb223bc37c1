"""autocast, GradScaler and the steps of optimizers in bfloat16 against PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import retrograd
from op_table.table import RANDOM, TABLE, Entry

pytestmark = pytest.mark.filterwarnings("ignore")        # both libraries warn, and tests of their own compare that
# Entries that are not cast as in PyTorch, or that raise an error, since the functions are composed differently.
COMPOSED = ("linalg.pinv", "svd_lowrank", "pca_lowrank", "lobpcg", "affine_grid", "lu_solve", "lu_unpack", "histogram",
            "rrelu", "pad reflect 3", "mse_loss weight", "l1_loss weight", "linalg.eigh", "chain_matmul",
            "lstm projected")


# Whether PyTorch's library has an LSTM in bfloat16 here: the library needs AVX-512.
BFLOAT16_LSTM = pytorch.backends.cpu.get_cpu_capability().startswith("AVX512")


def types(torch: ModuleType, entry: Entry, arrays: list[Any], lower: int) -> Any:
    """The types of the results under autocast. Every `lower`-th input is bfloat16; with 0, none is."""
    xs = [torch.tensor(a.tolist(), dtype=torch.float64).reshape(a.shape).to(
        torch.bfloat16 if lower and i % lower == 0 else torch.float32) for i, a in enumerate(arrays)]
    try:
        with torch.autocast("cpu"):
            out = entry.call(torch, *xs)
    except Exception as error:
        return type(error).__name__
    return [str(o.dtype) for o in (out if isinstance(out, (tuple, list)) else [out]) if isinstance(o, torch.Tensor)]


@pytest.mark.parametrize("entry", [e for e in TABLE if e not in RANDOM and not e.name.startswith(COMPOSED)
                                   and "of nothing" not in e.name], ids=str)
def test_types_under_autocast(entry: Entry) -> None:
    arrays = next(iter(entry.samples("float64")))
    for lower in (0, 1, 2):
        wanted = types(pytorch, entry, arrays, lower)
        if wanted == "RuntimeError" and entry.name.startswith("lstm") and not BFLOAT16_LSTM:
            pytest.skip("oneDNN has no LSTM in bfloat16 for this processor")
        assert types(retrograd, entry, arrays, lower) == wanted


CASES_OF_OPTIONS: list[Any] = [
    lambda F, x: F.max_pool3d(x, 2, return_indices=True)[0], lambda F, x: F.max_pool3d(x, 2),
    lambda F, x: F.max_pool3d(x, 2, None, 0, 1, False, True)[0], lambda F, x: F.max_pool3d_with_indices(x, 2)[0],
    lambda F, x: F.pad(x, (1,) * 6, "reflect"), lambda F, x: F.pad(x, (1,) * 6, mode="replicate"),
    lambda F, x: F.pad(x[0], (1,) * 4, "reflect"), lambda F, x: F.pad(x[0, 0], pad=(1, 1), mode="replicate"),
    lambda F, x: F.pad(x, (1, 1)), lambda F, x: F.pad(x, 1, "reflect"), lambda F, x: F.pad(x, (1, 1), ["reflect"])]


@pytest.mark.parametrize("case", CASES_OF_OPTIONS)
def test_types_that_depend_on_options(case: Any) -> None:
    found: list[Any] = []
    for torch in (pytorch, retrograd):
        with torch.autocast("cpu"):
            try:
                found.append(str(case(torch.nn.functional, torch.ones(1, 2, 4, 4, 4).bfloat16()).dtype))
            except TypeError as error:
                found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("lower", ["bfloat16", "float16"])
@pytest.mark.parametrize("names", [
    ("float16", "bfloat16"), ("bfloat16", "float16"), ("float16", "float32"), ("float32", "float16"),
    ("float16", "float64"), ("float64", "bfloat16"), ("int64", "float16"), ("bfloat16", "bfloat16")])
@pytest.mark.parametrize("case", [
    lambda torch, x, y: torch.cat([x, y]), lambda torch, x, y: torch.stack((x, y)), lambda torch, x, y: torch.cat([x]),
    lambda torch, x, y: x.index_copy(0, torch.tensor([1]), y[:1]), lambda torch, x, y: torch.hstack([x, y])])
def test_the_widest_type(case: Any, names: tuple[str, str], lower: str) -> None:
    found: list[Any] = []
    for torch in (pytorch, retrograd):
        x, y = (torch.ones(2, 2, dtype=getattr(torch, name)) for name in names)
        with torch.autocast("cpu", dtype=getattr(torch, lower)):
            try:
                found.append(str(case(torch, x, y).dtype))
            except RuntimeError as error:
                found.append(str(error))
    assert found[0] == found[1]


def trained(torch: ModuleType, scale: float) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.GradScaler("cpu", scale, growth_interval=2)
    x, y, losses = torch.randn(12, 6), torch.randint(0, 3, (12,)), []
    for _ in range(6):
        optimizer.zero_grad()
        with torch.autocast("cpu"):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses += [loss.item(), scaler.get_scale()]
    return losses


@pytest.mark.parametrize("scale", [4.0, 3e38])
def test_training(scale: float) -> None:
    np.testing.assert_allclose(trained(retrograd, scale), trained(pytorch, scale), rtol=1e-3)


def stepped(torch: ModuleType, name: str, dtype: str, options: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    p = torch.randn(6, 4).to(getattr(torch, dtype)).requires_grad_()
    optimizer = getattr(torch.optim, name)([p], **options)
    for i in range(5):
        p.grad = torch.randn((6, 4), generator=torch.Generator().manual_seed(i)).to(p.dtype)
        optimizer.step()
    return p.detach().float().numpy(), sorted(optimizer.state[p])


@pytest.mark.parametrize(("name", "options"), [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1}), ("Adam", {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"lr": 0.1}),
    ("RMSprop", {"momentum": 0.9, "centered": True}), ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}),
    ("RAdam", {}), ("ASGD", {}), ("Rprop", {})])
def test_steps_in_bfloat16(name: str, options: dict[str, Any]) -> None:
    (ours, state), (theirs, their_state) = (stepped(t, name, "bfloat16", options) for t in (retrograd, pytorch))
    np.testing.assert_array_equal(ours, theirs)
    assert state == their_state


@pytest.mark.parametrize("options", [{}, {"nesterov": False}, {"adjust_lr_fn": "match_rms_adamw", "lr": 0.02}])
def test_muon(options: dict[str, Any]) -> None:
    (ours, state), (theirs, their_state) = (stepped(t, "Muon", "float32", options) for t in (retrograd, pytorch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    assert state == their_state


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_casts_that_are_kept_without_grad_mode_have_gradients_later(mode: str) -> None:
    found = []
    for torch in (pytorch, retrograd):
        layer = torch.nn.Linear(2, 2)
        with torch.autocast("cpu"):
            with getattr(torch, mode)():
                first = layer(torch.ones(1, 2))
            second = layer(torch.ones(1, 2))
        second.float().sum().backward()
        found.append([first.requires_grad, first.is_inference(), second.requires_grad, second.is_inference(),
                      layer.weight.grad.tolist()])
    assert found[0] == found[1]
