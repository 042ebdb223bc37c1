"""Facts about sparse tensors, recorded from PyTorch, and what they share with dense tensors."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.sparse.arrays import Coo
from retrograd.kernels.sparse.coordinates import coalesce, to_dense

INDICES, VALUES = [[1, 0, 1, 1], [2, 1, 2, 0]], [1.0, 2.0, 3.0, -4.0]


def matrix(**options: Any) -> Any:
    return torch.sparse_coo_tensor(INDICES, VALUES, (2, 3), **options)


def test_the_text() -> None:
    assert str(matrix(requires_grad=True)) == (
        "tensor(indices=tensor([[1, 0, 1, 1],\n"
        "                       [2, 1, 2, 0]]),\n"
        "       values=tensor([ 1.,  2.,  3., -4.]),\n"
        "       size=(2, 3), nnz=4, layout=torch.sparse_coo, requires_grad=True)")
    assert str(torch.eye(2).double().to_sparse_csr()) == (
        "tensor(crow_indices=tensor([0, 1, 2]),\n"
        "       col_indices=tensor([0, 1]),\n"
        "       values=tensor([1., 1.]), size=(2, 2), nnz=2, dtype=torch.float64,\n"
        "       layout=torch.sparse_csr)")


def test_coalescing_puts_indices_in_order_and_adds() -> None:
    a = matrix()
    c = a.coalesce()
    assert (a.is_coalesced(), c.is_coalesced(), c._nnz()) == (False, True, 3)
    assert c.indices().tolist() == [[0, 1, 1], [1, 0, 2]]
    assert c.values().tolist() == [2, -4, 4]
    assert c.coalesce() is c
    assert c.to_dense().tolist() == [[0, 2, 0], [-4, 0, 4]]


def test_a_sparse_tensor_is_a_tensor() -> None:
    a = matrix()
    assert isinstance(a, torch.Tensor)
    assert type(a).__name__ == "Tensor"
    assert (a.layout, a.is_sparse, a.is_sparse_csr, a.shape, a.dtype) == (
        torch.sparse_coo, True, False, (2, 3), torch.float32)
    assert not torch.overrides.has_torch_function((a,))
    weight = torch.nn.Parameter(a)
    assert isinstance(weight, torch.nn.Parameter)
    assert weight.requires_grad


def test_the_gradient_of_a_factor_has_its_indices() -> None:
    a, b = matrix().coalesce().requires_grad_(), torch.ones(3, 2, requires_grad=True)
    torch.sparse.mm(a, b).sum().backward()
    assert a.grad.layout == torch.sparse_coo
    assert a.grad.to_dense().tolist() == [[0, 2, 0], [2, 0, 2]]
    assert b.grad.tolist() == [[-4, -4], [2, 2], [4, 4]]
    a.grad = None
    torch.mm(a, b).sum().backward()
    assert a.grad.layout == torch.strided
    assert a.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_the_gradient_reaches_the_values() -> None:
    values = torch.tensor(VALUES, requires_grad=True)
    a = torch.sparse_coo_tensor(INDICES, values, (2, 3))
    assert a.grad_fn.name() == "SparseCooTensorWithDimsAndTensorsBackward0"
    (torch.sparse.mm(a, torch.ones(3, 1)) ** 2).sum().backward()
    assert values.grad.tolist() == [0, 4, 0, 0]


def test_gradients_add_up() -> None:
    w = torch.eye(2).to_sparse().requires_grad_()
    for _ in range(2):
        torch.sparse.mm(w, torch.ones(2, 1)).sum().backward()
    assert w.grad._values().tolist() == [2, 2]
    torch.mm(w, torch.ones(2, 1)).sum().backward()
    assert w.grad.tolist() == [[3, 1], [1, 3]]


def test_the_type_of_a_sparse_tensor_is_that_of_the_dense_one() -> None:
    x = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    for sparse in (x.to_sparse(), x.to_sparse(1), x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse_bsr((1, 1)),
                   x.detach()[0, 0].to_sparse()):
        assert (sparse.dtype, sparse.to_dense().dtype) == (torch.bfloat16, torch.bfloat16)
    x.to_sparse().to_dense().sum().backward()
    assert x.grad.dtype is torch.bfloat16


def test_the_values_of_a_sparse_gradient_can_be_written() -> None:
    """The gradient of a sum is one number, seen many times."""
    table = torch.nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([0, 0, 2])).sum().backward()
    table.weight.grad._values().mul_(2)
    assert table.weight.grad.to_dense().tolist() == [[4.0, 4.0], [0.0, 0.0], [2.0, 2.0]]


def test_hooks_see_sparse_gradients() -> None:
    a, seen = matrix().requires_grad_(), []
    a.register_hook(lambda g: seen.append(g) or g * 2)
    torch.sparse.mm(a, torch.ones(3, 1)).sum().backward()
    assert seen[0]._values().tolist() == [1, 1, 1]
    assert a.grad._values().tolist() == [2, 2, 2]


@pytest.mark.parametrize(("call", "name"), [
    (lambda a: a.exp(), "exp"), (lambda a: a == a, "eq.Tensor"), (lambda a: a > 0, "gt.Scalar"),
    (lambda a: a[:1], "as_strided"), (lambda a: a.mean(), "mean.dim"), (lambda a: torch.softmax(a, 1), "_softmax"),
    (lambda a: a.fill_(1), "fill_.Scalar"), (lambda a: torch.where(torch.ones(2, 3) > 0, a, a), "where.self")])
def test_what_has_no_sparse_kernel(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"Could not run 'aten::{name}' with arguments from the 'SparseCPU'"
                                                  r" backend\. .*\n  instead    call it on x.to_dense\(\)"):
        call(matrix())


@pytest.mark.parametrize(("call", "words"), [
    (lambda a: a + torch.ones(2, 3), "add(sparse, dense) is not supported. Use add(dense, sparse) instead."),
    (lambda a: a / torch.ones(2, 3), "Sparse division requires a scalar or zero-dim dense tensor divisor"),
    (lambda a: a.values(), "Cannot get values on an uncoalesced tensor, please call .coalesce() first"),
    (lambda a: a.reshape(6), "reshape is not implemented for sparse tensors"),
    (lambda a: a @ torch.ones(2, 2), "addmm: Argument #3 (dense): Expected dim 0 size 3, got 2"),
    (lambda a: torch.ones(2).coalesce(), "coalesce expected sparse coordinate tensor layout but got Strided"),
    (lambda a: torch.sparse_coo_tensor([[-1]], [1.]), "found negative index -1 for dim 0")])
def test_what_is_refused(call: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(matrix())
    assert str(caught.value).startswith(words)


def test_numpy_is_told_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"^can't convert Sparse layout tensor to numpy\. Use Tensor\.to_dense\(\)"):
        matrix().numpy()


def test_a_mode_sees_the_calls() -> None:
    seen = []

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    a, b = matrix(), torch.ones(3, 1)
    with Watch():
        result = torch.mm(a, b)
    assert seen == ["mm"]
    assert result.tolist() == [[2], [0]]


def test_a_pickle_has_the_indices() -> None:
    for a in (matrix(), torch.eye(3).to_sparse_csr()):
        copy = pickle.loads(pickle.dumps(a))
        assert str(copy) == str(a)


def test_nothing_is_imported_before_the_first_sparse_tensor() -> None:
    lazy = ("tensors.sparse", "ops.sparse", "kernels.sparse", "sparse")
    program = (f"import sys, retrograd as torch; torch.ones(2).sum(); "
               f"print(any(f'retrograd.{{name}}' in sys.modules for name in {lazy})); torch.eye(2).to_sparse(); "
               "print('retrograd.tensors.sparse' in sys.modules)")
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]


def test_sparse_adam_changes_only_the_rows_that_were_taken() -> None:
    table = torch.nn.Embedding(4, 2, sparse=True)
    before = table.weight.detach().clone()
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.5)
    table(torch.tensor([1, 3])).sum().backward()
    optimizer.step()
    change = before - table.weight.detach()
    assert change[[0, 2]].tolist() == [[0, 0], [0, 0]]
    assert change[[1, 3]].numpy() == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Adadelta"])
def test_other_optimizers_refuse_sparse_gradients(name: str) -> None:
    table = torch.nn.Embedding(4, 2, sparse=True)
    before = table.weight.tolist()
    table(torch.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
        getattr(torch.optim, name)(table.parameters()).step()
    assert table.weight.tolist() == before


def test_a_step_keeps_the_sparse_gradient() -> None:
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    torch.optim.SGD(table.parameters(), lr=0.1).step()
    assert table.weight.grad.is_sparse


def test_products_follow_a_change_of_the_indices() -> None:
    """The order of the sums is kept from one product to the next."""
    a, x = torch.sparse_coo_tensor([[0, 0, 2], [1, 2, 0]], [1., 2., 4.], (3, 3)), torch.eye(3)
    assert (a @ x).tolist() == (a @ x).tolist() == [[0, 1, 2], [0, 0, 0], [4, 0, 0]]
    assert (a.t() @ x).tolist() == [[0, 0, 4], [1, 0, 0], [2, 0, 0]]
    a._indices()[0, 0] = 2
    assert (a @ x).tolist() == [[0, 0, 2], [0, 0, 0], [4, 1, 0]]
    assert (a.t() @ x).tolist() == [[0, 0, 4], [0, 0, 1], [2, 0, 0]]


def test_products_of_many_elements_are_those_of_the_rows() -> None:
    """The products of so many elements are not all held at once."""
    draws = np.random.default_rng(0)
    indices, dense = draws.integers(0, 30, (2, 200)), draws.integers(-9, 9, (30, 900)).astype(np.float32)
    a = torch.sparse_coo_tensor(torch.tensor(indices), torch.arange(200.), (30, 30))
    expected = a.to_dense().numpy() @ dense
    assert ((a @ torch.tensor(dense)).numpy() == expected).all()


# Random arrays, in both layouts

def drawn(seed: int) -> tuple[Any, Any]:
    """A sparse array with indices that occur twice, and a dense array of its shape."""
    draws = np.random.default_rng(seed)
    shape = tuple(int(n) for n in draws.integers(1, 6, 2))
    nnz = int(draws.integers(0, 12))
    indices = np.stack([draws.integers(0, size, nnz) for size in shape])
    return Coo(indices, draws.standard_normal(nnz), shape), draws.standard_normal(shape)


OPERATIONS: list[Callable[..., Any]] = [
    lambda a, x: -a, lambda a, x: a * 3, lambda a, x: a / 2, lambda a, x: a * x, lambda a, x: x * a,
    lambda a, x: x + a, lambda a, x: a * a, lambda a, x: a - 3 * a, lambda a, x: torch.sin(a), lambda a, x: abs(a),
    lambda a, x: a ** 2, lambda a, x: a.sum(), lambda a, x: a.t(), lambda a, x: a.t() @ x, lambda a, x: x.t() @ a,
    lambda a, x: a @ a.t(), lambda a, x: a @ x[0], lambda a, x: torch.cat([a, a], 1), lambda a, x: torch.stack([a, a]),
    lambda a, x: a[0], lambda a, x: a.index_select(1, torch.tensor([0, 0])), lambda a, x: a.unsqueeze(1),
    lambda a, x: torch.addmm(x @ x.t(), a, x.t(), alpha=2)]
ALSO_COMPRESSED = {0, 1, 3, 5, 6, 8, 9, 11, 12, 13, 16, 22}


@pytest.mark.parametrize("place", range(len(OPERATIONS)))
@pytest.mark.parametrize("seed", range(6))
def test_operations_agree_with_dense_ones(place: int, seed: int) -> None:
    array, other = drawn(seed)
    a = torch.sparse_coo_tensor(torch.tensor(array.indices), torch.tensor(array.values), array.shape)
    x, operation = torch.tensor(other), OPERATIONS[place]
    expected = operation(a.to_dense(), x).numpy()
    for operand in (a, a.coalesce(), *[a.to_sparse_csr()] * (place in ALSO_COMPRESSED)):
        result = operation(operand, x)
        dense = result if result.layout == torch.strided else result.to_dense()
        np.testing.assert_allclose(dense.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_gradients_agree_with_dense_ones(seed: int) -> None:
    array, other = drawn(seed)
    values, x = torch.tensor(array.values, requires_grad=True), torch.tensor(other)
    a = torch.sparse_coo_tensor(torch.tensor(array.indices), values, array.shape)
    found, expected = [], []
    for result, of in ((torch.sparse.mm(a, x.t()), a.to_dense() @ x.t()), ((a * x).to_dense(), a.to_dense() * x),
                       (torch.sparse.sum(a, 0).to_dense(), a.to_dense().sum(0)), (a.t().to_dense(), a.to_dense().t()),
                       ((a * a).to_dense(), a.to_dense() ** 2), (a @ x[0], a.to_dense() @ x[0])):
        found.append(torch.autograd.grad((result ** 2).sum(), values, retain_graph=True)[0].numpy())
        expected.append(torch.autograd.grad((of ** 2).sum(), values, retain_graph=True)[0].numpy())
    np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_coalescing_changes_no_element(seed: int) -> None:
    array, _ = drawn(seed)
    np.testing.assert_allclose(to_dense(coalesce(array)), to_dense(array), rtol=1e-14)


@pytest.mark.parametrize("make", [
    matrix, lambda: matrix().coalesce(), lambda: matrix().to_sparse_csr(), lambda: matrix().to_sparse_csc(),
    lambda: torch.nn.Parameter(matrix()), lambda: torch.eye(3).to_sparse(1), lambda: torch.sparse_coo_tensor((2, 3))])
def test_files_hold_sparse_tensors(make: Callable[[], Any]) -> None:
    file, saved = io.BytesIO(), make()
    torch.save({"adjacency": saved, "twice": saved}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert str(loaded["adjacency"]) == str(saved)
    assert loaded["twice"] is loaded["adjacency"]
    if saved.is_sparse:
        assert loaded["twice"].is_coalesced() == saved.is_coalesced()


def test_a_file_with_an_index_out_of_range_is_damaged() -> None:
    file = io.BytesIO()
    torch.save(torch.sparse_coo_tensor([[5]], [1.], (2,)), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="The file is damaged"):
        torch.load(file)


def test_the_old_constructor() -> None:
    x = torch.sparse_coo_tensor([[0, 1]], [1., 2.], (3,), dtype=torch.float64)
    assert x.new(3, 2).shape == (3, 2)
    assert x.new(3, 2).dtype is torch.float64
    assert x.new().shape == (0,)
    assert x.new(torch.tensor([[0, 2]]), torch.tensor([3, 4]), (4,)).to_dense().tolist() == [3, 0, 4, 0]
    with pytest.raises(TypeError, match=r"^new\(\) received an invalid combination of arguments - got \(list\)"):
        x.new([1., 2.])


def test_sparse_gradients_have_no_common_norm() -> None:
    layer = torch.nn.Embedding(5, 3, sparse=True)
    layer(torch.tensor([1, 2])).sum().backward()
    with pytest.raises(NotImplementedError, match="^Could not run 'aten::linalg_vector_norm' with arguments from the "
                                                  "'SparseCPU' backend"):
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    assert layer.weight.grad is not None
    with pytest.raises(NotImplementedError, match="^Could not run 'aten::clamp_' "):
        layer.weight.grad.clip_(-1, 1)


def test_a_sparse_tensor_takes_the_size_of_another() -> None:
    x = torch.sparse_coo_tensor([[0, 2], [1, 0]], [3., 4.], (3, 3))
    empty = x.new().resize_as_(x)
    assert (empty.shape, empty._nnz(), empty.is_sparse) == ((3, 3), 0, True)
    assert x.clone().resize_as_(torch.sparse_coo_tensor((4, 3))).to_dense()[:3].tolist() == x.to_dense().tolist()
    assert torch.zeros(2).resize_as_(x).shape == (3, 3)
    with pytest.raises(NotImplementedError, match="^Could not run 'aten::resize_' with arguments from the 'SparseCPU'"):
        x.clone().resize_as_(torch.zeros(3, 3))
    with pytest.raises(RuntimeError, match="^Unsupported memory format for sparse tensor resize_as_ :ChannelsLast$"):
        x.clone().resize_as_(x, memory_format=torch.channels_last)


@pytest.mark.parametrize("make", [lambda v: torch.sparse_coo_tensor([[0, 1]], v, (2,)).coalesce(),
                                  lambda v: torch.sparse_csr_tensor([0, 1, 2], [0, 1], v, (2, 2))])
def test_a_write_to_values_that_would_be_recorded(make: Any) -> None:
    """The history of the sparse tensor would not know of the write, so its gradients would be wrong."""
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    s = make(v)
    for write in (lambda: s.values().mul_(2), lambda: s.values()[0].mul_(2)):
        with pytest.raises(RuntimeError, match="is a view and is being modified inplace. It is a view of the elements"):
            write()
    with pytest.raises(RuntimeError, match="a write to them cannot be recorded"):
        s.detach().values().mul_(v)
    with torch.no_grad():
        s.values().mul_(2)
    s.detach().values().mul_(2)
    assert s.values().tolist() == [4.0, 8.0]
