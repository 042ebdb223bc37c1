"""What is said of arguments that do not fit: PyTorch's words, from the schemas of public functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.schemas import SPACES, schemas_in
from retrograd.tensors.arguments.checking import refusal
from retrograd.tensors.arguments.schemas import schemas

X = torch.ones(3, 4)
WRONG: dict[str, Callable[[], Any]] = {
    'gather() missing 2 required positional argument: "dim", "index"': lambda: torch.gather(X),
    'linalg_inv() missing 1 required positional arguments: "A"': lambda: torch.linalg.inv(),
    "diag() takes from 1 to 2 positional arguments but 3 were given": lambda: torch.diag(X, 1, 2),
    "tril() got an unexpected keyword argument 'wrong'": lambda: torch.tril(X, wrong=1),
    "tril() got multiple values for argument 'input'": lambda: torch.tril(X, input=X),
    "exp(): argument 'input' (position 1) must be Tensor, not str": lambda: torch.exp("a"),
    "cumsum(): argument 'dim' (position 2) must be int, not bool": lambda: torch.cumsum(X, True),
    "topk(): argument 'largest' must be bool, not NoneType": lambda: torch.topk(X, 1, largest=None),
    "flip(): argument 'dims' (position 2) must be tuple of ints, but found element of type str at pos 0":
        lambda: torch.flip(X, ["a"]),
    "expected Tensor as element 1 in argument 0, but got int": lambda: torch.cat([X, 1]),
    "copy_(): argument 'other' (position 1) must be Tensor, not numpy.str_": lambda: X.copy_(np.str_("a")),
    "fill_() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n":
        lambda: torch.fill_(X, "a"),
    "Overflow when unpacking long long": lambda: torch.cumsum(X, 10**20),
    "sum() received an invalid combination of arguments - got (Tensor, str), but expected one of:\n"
    " * (Tensor input, *, torch.dtype dtype = None)\n"
    " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)":
        lambda: torch.sum(X, "a"),
    'full() missing 1 required positional arguments: "fill_value"': lambda: torch.full((2, 2)),
    'new_full() missing 1 required positional arguments: "fill_value"': lambda: X.new_full((2,)),
    'transpose() missing 1 required positional arguments: "dim1"': lambda: X.transpose(0),
    'complex() missing 1 required positional arguments: "imag"': lambda: torch.complex(X),
    'frombuffer() missing 1 required positional arguments: "dtype"': lambda: torch.frombuffer(b"1234"),
    "split() missing 1 required positional argument: 'split_size_or_sections'": lambda: torch.split(X),
    "pad() missing 1 required positional argument: 'pad'": lambda: torch.nn.functional.pad(X),
    "linspace() received an invalid combination of arguments - got (int, int, float), but expected one of:\n"
    " * (Tensor start, Tensor end, int steps, *, Tensor out = None, torch.dtype dtype = None,":
        lambda: torch.linspace(0, 1, 2.5),
    "logspace() received an invalid combination of arguments - got (int, int, num=int), but expected one of:\n":
        lambda: torch.logspace(0, 1, num=5),
    "new() received an invalid combination of arguments - got (list, dtype=torch.dtype), but expected one of:\n"
    " * (*, torch.device device = None)\n      didn't match because some of the keywords were incorrect: dtype\n"
    " * (torch.Storage storage)\n": lambda: torch.Tensor([1, 2], dtype=torch.int64),
    "new() received an invalid combination of arguments - got (float, int), but expected one of:\n":
        lambda: torch.Tensor(2.5, 3),
    "new(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but got "
    'float"': lambda: torch.LongTensor(2, 2.0),
}


@pytest.mark.parametrize(("said", "call"), WRONG.items())
def test_what_is_said(said: str, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert str(caught.value).startswith(said)


def test_the_old_constructor_takes_the_device_of_its_tensors() -> None:
    assert torch.Tensor([1, 2], device="cpu").tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: cuda was pas"):
        torch.FloatTensor([1, 2], device="cuda")


def test_arguments_that_fit() -> None:
    fitting: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("sum", (X, (0, 1)), {"keepdim": True}), ("sum", (X,), {"axis": 1}), ("rand", (2, 3), {}),
        ("rand", ((2, 3),), {}), ("flip", (X, 0, 1), {}), ("reshape", (X, [4, 3]), {}),
        ("add", (X, 1.5), {"alpha": 2}), ("where", (X > 0,), {}), ("cumsum", (X, torch.tensor(1)), {}),
        ("clamp", (X, None, 1), {}), ("mean", (X, None), {}), ("stack", ([X, X],), {"dim": 1})]
    assert [name for name, args, kwargs in fitting if refusal(schemas_in("")[name], args, kwargs)] == []


def test_every_signature_can_be_read() -> None:
    for space in SPACES:
        for texts in schemas_in(space).values():
            for way in schemas(texts):
                assert way.text.startswith("(")
                assert way.positional <= len(way.parameters)


def test_a_function_has_its_signature_and_its_names() -> None:
    assert inspect.signature(torch.sum) == inspect.signature(torch.Tensor.sum)
    assert [*inspect.signature(torch.gather).parameters] == [
        "input", "dim", "index", "sparse_grad", "out", "axis"]
    assert torch.gather.__name__ == "gather"


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(IndexError, match="Dimension out of range") as caught:
        torch.cumsum(X, 5)
    assert caught.value.__cause__ is None


def test_flags_are_looked_at_before_every_call() -> None:
    for _ in range(2):
        torch.topk(X, 1, largest=True)
        with pytest.raises(TypeError, match="must be bool, not int"):
            torch.topk(X, 1, largest=2)


F = torch.nn.functional
SAID: dict[str, Callable[[], Any]] = {
    "Boolean value of Tensor with more than one value is ambiguous": lambda: F.mse_loss(X, X, torch.ones(2)),
    "It is expected kernel_size equals to 2, but got size 1": lambda: F.unfold(X[None], (2,)),
    "not enough values to unpack (expected 2, got 1)": lambda: F.lp_pool2d(X[None], 2.0, (2,)),
    "shape mismatch: value tensor of shape [1, 2] cannot be broadcast to indexing result of shape [2]":
        lambda: X.index_put((torch.tensor([0, 1]), torch.tensor([0, 1])), torch.ones(1, 2)),
    "linalg.cond(ord=nuc): A must be batches of square matrices": lambda: torch.linalg.cond(X[:, :0], "nuc"),
    "linalg.matrix_norm: Order 1.5 not supported": lambda: torch.linalg.matrix_norm(X, torch.tensor(1.5)),
    "Input type (torch.FloatTensor) and bias type (torch.DoubleTensor) should be the same or input should be a MKLDNN":
        lambda: F.conv_transpose1d(X[None], torch.ones(3, 2, 2), torch.ones(2).double()),
    "expected scalar type Float but found Double": lambda: F.layer_norm(X, (4,), torch.ones(4), torch.ones(4).double()),
    "unfold(): argument 'step' (position 3) must be int, not Tensor": lambda: X.unfold(1, 2, torch.tensor(1.5)),
    "Dimension out of range (expected to be in range of [-1, 0], but got -2)":
        lambda: F.scaled_dot_product_attention(*[torch.ones(1, 2, 3, 4)] * 3, torch.ones(3)),
}


@pytest.mark.parametrize(("said", "call"), SAID.items())
def test_what_functions_say_themselves(said: str, call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)) as caught:
        call()
    assert str(caught.value).startswith(said)


def test_old_options_of_losses_are_true_or_false() -> None:
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert F.mse_loss(X, X, reduce=0).shape == (3, 4)


def test_weights_have_the_shape_of_the_input_as_it_was_given() -> None:
    with pytest.warns(UserWarning, match="different to the input size"), pytest.raises(
            ValueError, match="Weights and input must have the same size"):
        F.mse_loss(X[0], X, weight=X)


@pytest.mark.parametrize("wrong", [1, None, 0.5, "a"])
def test_whether_writes_accumulate_is_a_bool(wrong: Any) -> None:
    places = (torch.tensor([0]),)
    for _ in range(2):
        X.index_put(places, torch.ones(4), True)
        with pytest.raises(TypeError, match=r"^index_put\(\): argument 'accumulate' must be bool, not "):
            X.index_put(places, torch.ones(4), accumulate=wrong)
        with pytest.raises(TypeError, match=r"^index_put_\(\): argument 'accumulate' \(position 3\) must be bool"):
            X.clone().index_put_(places, torch.ones(4), wrong)
