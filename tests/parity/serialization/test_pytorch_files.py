"""Files that PyTorch writes, read here."""

import io
import pickle
from collections import Counter, OrderedDict
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64",
          "complex128"]


def through(obj: Any, **options: Any) -> Any:
    """What is read of a file that PyTorch wrote."""
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return retrograd.load(file)


def same(ours: Any, theirs: Any) -> None:
    """Of one value, dtype, strides and class."""
    if isinstance(theirs, torch.Tensor):
        assert type(ours).__name__ == type(theirs).__name__
        assert str(ours.dtype) == str(theirs.dtype)
        assert (tuple(ours.shape), ours.requires_grad) == (tuple(theirs.shape), theirs.requires_grad)
        assert not theirs.numel() or ours.stride() == theirs.stride()
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
    elif isinstance(theirs, dict):
        assert type(ours) is type(theirs)
        assert [*ours] == [*theirs]
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)) and type(theirs) in (list, tuple):
        assert type(ours) is type(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    else:
        assert str(ours) == str(theirs)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_objects(protocol: int) -> None:
    base, leaf = torch.arange(24.), torch.ones(2, requires_grad=True)
    leaf.note = "n"
    parameter = torch.nn.Parameter(torch.ones(3))
    parameter.note = [1]
    obj = {
        "tensors": [torch.ones(2, dtype=getattr(torch, name)) for name in DTYPES], "leaf": leaf, "p": parameter,
        "views": (base, base[2:5], base.view(2, 3, 4).permute(2, 0, 1), base[1::5], torch.ones(1).expand(2, 3)),
        "odd": [torch.empty(0, 3), torch.tensor(1.5), torch.Size([1]), torch.device("cpu"), (torch.int8,), torch.bool],
        "plain": [None, True, 1, -1, 2**40, -2**70, 0.5, float("inf"), "text", "ü" * 300, b"bytes", bytearray(b"b"),
                  2 + 3j, {1, 2}, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}, list(range(2000))],
        "dicts": [OrderedDict(a=1), Counter("aab"), {1: 2, (1, 2): 3, None: 4}],
    }
    found = through(obj, pickle_protocol=protocol)
    same(found, obj)
    assert found["leaf"].note == "n"
    assert found["p"].note == [1]
    found["views"][1].zero_()
    assert found["views"][0][2:5].sum().item() == 0


def test_training_goes_on() -> None:
    """A network and an optimizer of PyTorch's, saved after some steps, take the next steps here as there."""

    def built(library: Any) -> tuple[Any, Any]:
        nn = library.nn
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        return net, library.optim.Adam(net.parameters(), lr=0.01)

    def step(library: Any, net: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        net(library.arange(12.).reshape(4, 3)).square().sum().backward()
        optimizer.step()

    net, optimizer = built(torch)
    for _ in range(3):
        step(torch, net, optimizer)
    saved = through({"net": net.state_dict(), "optimizer": optimizer.state_dict()})
    ours, our_optimizer = built(retrograd)
    ours.load_state_dict(saved["net"])
    our_optimizer.load_state_dict(saved["optimizer"])
    step(torch, net, optimizer)
    step(retrograd, ours, our_optimizer)
    for mine, theirs in zip(ours.parameters(), net.parameters(), strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors() -> None:
    a = torch.sparse_coo_tensor([[1, 0, 1], [2, 1, 2]], torch.ones(3), (2, 3))
    saved = [a, a.coalesce(), a.to_sparse_csr(), a.to_sparse_csc(), torch.nn.Parameter(a), torch.eye(2).to_sparse(1),
             torch.eye(4).to_sparse_bsr((2, 1)), torch.eye(4).to_sparse_bsc((1, 2)),
             torch.nn.Parameter(a.to_sparse_csr())]
    for ours, theirs in zip(through(saved), saved, strict=True):
        assert str(ours) == str(theirs)


class Mine(torch.Tensor):
    pass


@pytest.mark.parametrize(("obj", "named"), [
    (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"), (torch.ones(1).as_subclass(Mine), "Mine"),
    (slice(1), "builtins.slice")])
def test_what_is_no_data_is_refused(obj: Any, named: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=f"(?s)Weights only load failed.*{named}"):
        through(obj)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_a_type_without_numbers_is_refused() -> None:
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed.*torch.complex32"):
        through(torch.ones(1, dtype=torch.complex32))


def test_old_files_are_named() -> None:
    with pytest.raises(RuntimeError, match=r"The file is a pickle, such as PyTorch wrote before 1.6"):
        through(torch.ones(1), _use_new_zipfile_serialization=False)
