"""The share of PyTorch's public names that retrograd has does not shrink. Modules below a namespace are not counted."""

from __future__ import annotations

import pytest

from comparing.namespace_coverage import bound_classes, coverage, everything, reason, rows

# In per cent, rounded down. A namespace that is not named here may have any share.
LEAST = {
    "torch": 95, "torch.Tensor": 99, "torch.nn": 98, "torch.nn.functional": 98, "torch.nn.modules": 100,
    "torch.nn.init": 100, "torch.nn.utils": 100, "torch.nn.Module": 100, "torch.optim": 100,
    "torch.optim.lr_scheduler": 100, "torch.utils.data": 65, "torch.utils.checkpoint": 100, "torch.distributions": 98,
    "torch.distributions.constraints": 98, "torch.distributions.transforms": 98, "torch.autograd": 92,
    "torch.autograd.functional": 100, "torch.autograd.graph": 100, "torch.serialization": 100, "torch.cpu": 100,
    "torch.linalg": 97, "torch.fft": 94, "torch.special": 100}


@pytest.mark.parametrize("space", LEAST)
def test_the_share_of_names_holds(space: str) -> None:
    found = coverage(space)
    assert found.share >= LEAST[space], found.absent


def test_bound_classes_are_counted_apart_and_once() -> None:
    names, bound = coverage("torch"), coverage("torch", bound=True)
    assert {*bound.listed} == bound_classes()
    assert {"Graph", "AnyType", "DispatchKey", "Future"} <= {*bound.listed}
    assert {*names.listed} & {*bound.listed} == set()
    assert {"Tensor", "Generator", "qscheme", "Stream", "add"} <= {*names.listed}
    assert bound.modules == []
    assert f"of {len(bound.listed)} names (" in dict(rows())["torch: classes that torch._C binds"]


def test_a_missing_name_lowers_the_share() -> None:
    found = coverage("torch.optim")
    assert found._replace(absent=[*found.listed]).share == 0.0
    assert found.share > 0.0


def test_every_namespace_has_a_row_with_its_figures() -> None:
    found = [*rows()]
    assert len(found) == len([*everything()])
    assert ("torch.optim", "17 of 17 names (100.0 %), 16 of 16 modules") in found
    assert dict(found)["torch.accelerator"].endswith("; missing: other devices and their libraries: 1 (Graph)")


def test_every_missing_name_has_a_reason() -> None:
    assert [f"{one.space}.{name}" for one in everything() for name in one.absent
            if not reason(f"{one.space}.{name}")] == []
    assert reason("torch.no_such_name") == ""
