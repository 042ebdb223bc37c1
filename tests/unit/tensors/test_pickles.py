"""Pickles of tensors: what a process reads that has seen no such tensor before, and what is kept."""

import copy
import io
import pickle
import subprocess
import sys
from typing import Any

import pytest

import retrograd as torch

_EYE = torch.eye(2)
_SPARSE = {"coo": _EYE.to_sparse(), "csr": _EYE.to_sparse_csr(), "csc": _EYE.to_sparse_csc(),
           "bsr": _EYE.to_sparse_bsr((1, 1)), "bsc": _EYE.to_sparse_bsc((1, 2))}
_META = {"meta": torch.ones(2, 3, device="meta"), "parameter": torch.nn.Parameter(torch.ones(2, device="meta"))}
_READ = ("import pickle, sys\nfor x in pickle.load(sys.stdin.buffer):\n"
         "    print(type(x).__name__, x.layout, x.device, x.requires_grad, (x + x).shape)\n    print(x)")


def again(obj: Any) -> Any:
    return pickle.loads(pickle.dumps(obj))


def through_file(obj: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("given", [_SPARSE, _META], ids=["sparse", "meta"])
def test_a_process_reads_tensors_of_a_kind_that_it_has_not_seen(given: dict[str, Any]) -> None:
    for x in given.values():
        done = subprocess.run([sys.executable, "-c", _READ], input=pickle.dumps([x]), capture_output=True, check=True,
                              timeout=120)
        assert done.stdout.decode().replace("\r\n", "\n") == (
            f"{type(x).__name__} {x.layout} {x.device} {x.requires_grad} {(x + x).shape}\n{x}\n")


@pytest.mark.parametrize("layout", _SPARSE)
def test_what_is_read_computes_with_others(layout: str) -> None:
    for dtype in (torch.float32, torch.float64):
        x = again(_SPARSE[layout].to(dtype))
        dense = x.to_dense()
        assert torch.mm(dense, torch.ones(2, 2, dtype=dtype)).tolist() == [[1, 1], [1, 1]]
        if layout != "bsc":
            assert torch.mm(x, torch.ones(2, 2, dtype=dtype)).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("layout", _SPARSE)
@pytest.mark.parametrize("way", [again, copy.copy, through_file])
def test_whether_sparse_tensors_require_grad(way: Any, layout: str) -> None:
    x = _SPARSE[layout]
    for requires_grad in (False, True):
        parameter = torch.nn.Parameter(x, requires_grad)
        parameter.note = 3
        found = way(parameter)
        assert (isinstance(found, torch.nn.Parameter), str(found)) == (True, str(parameter))
        assert (found.is_leaf, found.note) == (True, 3)
    assert not way(x).requires_grad
    read = way(x.clone().requires_grad_())
    assert read.layout is x.layout
    assert (read.requires_grad, read.is_leaf) == ((False, True) if layout == "coo" else (True, False))


@pytest.mark.parametrize("way", [again, copy.copy, copy.deepcopy, through_file])
@pytest.mark.parametrize("x", [torch.ones(2), *_SPARSE.values(), *_META.values()], ids=["dense", *_SPARSE, *_META])
def test_copies_in_inference_mode_are_inference_tensors(way: Any, x: torch.Tensor) -> None:
    with torch.inference_mode():
        assert way(x).is_inference()
    assert not way(x).is_inference()


@pytest.mark.parametrize("way", [again, copy.copy, copy.deepcopy, through_file])
def test_types_are_the_same_types(way: Any) -> None:
    for kind in (torch.Tensor, torch.nn.Parameter, torch.FloatTensor, torch.BoolTensor, torch.sparse_bsr):
        assert way(kind) is kind
        assert way([kind]) == [kind]
