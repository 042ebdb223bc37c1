"""Products of matrices: NumPy's values, finite differences, and facts recorded from PyTorch once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch

Function = Callable[..., Any]
draws = np.random.default_rng(5)


def normal(*shape: int, dtype: str = "float64") -> Any:
    values = draws.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * draws.standard_normal(shape)
    return torch.from_numpy(np.asarray(values).astype(dtype))


def names(tensor: Any) -> list[str]:
    """The grad_fn and what follows it along first inputs, to the leaf."""
    found, node = [], tensor.grad_fn
    while node is not None and type(node).__name__ != "AccumulateGrad":
        found.append(node.name())
        node = node.next_functions[0][0]
    return found


def slope(function: Function, inputs: list[Any], directions: list[Any]) -> Any:
    """The derivative of a function's sum of squares along a direction."""
    leaves = [x if x.requires_grad else x.clone().requires_grad_() for x in inputs]
    gradients = torch.autograd.grad(function(*leaves).square().sum(), leaves, create_graph=True)
    return sum((g * d).sum() for g, d in zip(gradients, directions))


def agrees_with_differences(function: Function, inputs: list[Any]) -> None:
    """Compare the derivative along a random direction with a difference quotient."""
    directions = [normal(*x.shape) for x in inputs]

    def value(step: float) -> float:
        return float(function(*[x + step * d for x, d in zip(inputs, directions)]).square().sum().item())

    along = slope(function, inputs, directions).item()
    assert along == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-5, abs=1e-5)


PRODUCTS: dict[str, tuple[Function, list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(2, 3), (3, 4)]), "bmm": (torch.bmm, [(5, 2, 3), (5, 3, 4)]), "mv": (torch.mv, [(2, 3), (3,)]),
    "dot": (torch.dot, [(3,), (3,)]), "vdot": (torch.vdot, [(3,), (3,)]), "outer": (torch.outer, [(3,), (2,)]),
    "addmm": (lambda x, y, z: torch.addmm(x, y, z, beta=2, alpha=-0.5), [(4,), (2, 3), (3, 4)]),
    "addmv": (lambda x, y, z: torch.addmv(x, y, z, beta=0.5, alpha=3), [(2,), (2, 3), (3,)]),
    "addbmm": (lambda x, y, z: torch.addbmm(x, y, z, alpha=2), [(2, 4), (5, 2, 3), (5, 3, 4)]),
    "baddbmm": (lambda x, y, z: torch.baddbmm(x, y, z, beta=2), [(1, 4), (5, 2, 3), (5, 3, 4)]),
    "addr": (lambda x, y, z: torch.addr(x, y, z, alpha=2), [(3, 4), (3,), (4,)]), "trace": (torch.trace, [(3, 2)]),
    "stack @ matrix": (torch.matmul, [(5, 2, 3), (3, 4)]), "matrix @ stack": (torch.matmul, [(2, 3), (5, 3, 4)]),
    "stack @ vector": (torch.matmul, [(5, 2, 3), (3,)]), "vector @ stack": (torch.matmul, [(3,), (5, 3, 4)]),
    "stack @ stack": (torch.matmul, [(2, 1, 2, 3), (4, 3, 2)]), "vector @ matrix": (torch.matmul, [(3,), (3, 2)]),
    "einsum": (lambda x, y: torch.einsum("bij,jkb->ik", x, y), [(2, 3, 4), (4, 3, 2)]),
    "einsum of a diagonal": (lambda x: torch.einsum("iij->j", x), [(3, 3, 2)]),
    "tensordot": (lambda x, y: torch.tensordot(x, y, ([0, 2], [1, 0])), [(2, 3, 4), (4, 2, 3)]),
    "inner": (torch.inner, [(2, 3), (4, 3)]), "chain_matmul": (torch.chain_matmul, [(2, 3), (3, 4), (4, 2)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_derivatives_agree_with_differences(name: str) -> None:
    function, shapes = PRODUCTS[name]
    inputs = [normal(*shape) for shape in shapes]
    agrees_with_differences(function, inputs)
    directions = [normal(*shape) for shape in shapes]
    agrees_with_differences(lambda *xs: slope(function, [*xs], directions), inputs)


ranks = st.sampled_from([(3,), (2, 3), (5, 2, 3), (1, 2, 3), (4, 5, 2, 3), (0, 2, 3)])


@given(ranks, st.sampled_from([(3,), (3, 4), (5, 3, 4), (1, 3, 4), (4, 5, 3, 4), (3, 0)]))
def test_matmul_is_numpys(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = normal(*left), normal(*right)
    try:
        expected = np.matmul(x.numpy(), y.numpy())
    except ValueError:
        with pytest.raises(RuntimeError):
            x @ y
        return
    for a in (x, x.clone().requires_grad_()):
        for b in (y, y.clone().requires_grad_()):
            found = a @ b
            np.testing.assert_allclose(found.detach().numpy(), expected)
            if found.requires_grad:
                found.sum().backward()


letters = st.text("abc", min_size=1, max_size=3)


@given(letters, letters, st.data())
def test_einsum_is_numpys(left: str, right: str, data: st.DataObject) -> None:
    output = "".join(data.draw(st.permutations(sorted({*left, *right}))))[: data.draw(st.integers(0, 3))]
    sizes = {"a": 2, "b": 3, "c": 4}
    x, y = (normal(*[sizes[c] for c in term]) for term in (left, right))
    equation = f"{left},{right}->{output}"
    expected = np.einsum(equation, x.numpy(), y.numpy())
    np.testing.assert_allclose(torch.einsum(equation, x, y).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize(("equation", "sizes", "strides"), [
    ("ij,kj->ki", [(4, 5), (6, 5)], (4, 1)), ("ij,kj->ik", [(4, 5), (6, 5)], (6, 1)),
    ("bij,bkj->bki", [(3, 4, 5), (3, 6, 5)], (24, 4, 1)), ("bij,bkj->kbi", [(3, 4, 5), (3, 6, 5)], (4, 24, 1)),
    ("bij,kj->bki", [(3, 4, 5), (6, 5)], (24, 1, 6)), ("abj,cj->cab", [(2, 3, 5), (4, 5)], (6, 3, 1)),
    ("abj,cdj->cadb", [(2, 3, 5), (4, 5, 5)], (5, 60, 1, 20)),
    ("...de,...nd->...ne", [(2, 5, 3), (2, 7, 5)], (21, 3, 1)),
    ("ij,jk,kl->li", [(4, 5), (5, 6), (6, 2)], (1, 2)), ("ij,jk,i->ki", [(4, 5), (5, 6), (4,)], (4, 1)),
])
def test_einsum_exchanges_operands_whose_dimensions_come_in_the_other_order(
        equation: str, sizes: list[tuple[int, ...]], strides: tuple[int, ...]) -> None:
    """The strides of PyTorch's results. The operands keep their places where their dimensions alternate."""
    operands = [normal(*shape) for shape in sizes]
    found = torch.einsum(equation, *operands)
    assert found.stride() == strides
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *[x.numpy() for x in operands]), atol=1e-12)


@pytest.mark.parametrize("size", [2, 8, 80])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
def test_outer_products_of_a_batch_are_sums(size: int, dtype: Any) -> None:
    """As in PyTorch, a sum of one product that is -0.0 is 0.0."""
    found = torch.bmm(torch.zeros(3, size, 1, dtype=dtype), -torch.ones(3, 1, size, dtype=dtype))
    assert found.dtype == dtype
    assert not torch.signbit(torch.view_as_real(found) if dtype.is_complex else found).any()


def test_names_in_the_graph() -> None:
    w = normal(3, 4).requires_grad_()
    assert names(normal(2, 3).requires_grad_() @ w) == ["MmBackward0"]
    assert names(normal(5, 2, 3).requires_grad_() @ w) == ["UnsafeViewBackward0", "MmBackward0", "ViewBackward0"]
    assert names(normal(5, 2, 3).requires_grad_() @ normal(5, 3, 4).requires_grad_()) == [
        "UnsafeViewBackward0", "BmmBackward0", "ViewBackward0", "ExpandBackward0"]
    assert names(normal(3).requires_grad_() @ normal(3)) == ["DotBackward0"]
    assert names(w.t() @ normal(3)) == ["MvBackward0", "TBackward0"]
    assert names(torch.addmm(normal(4), normal(2, 3), w)) == ["AddmmBackward0"]
    assert names(torch.outer(normal(3).requires_grad_(), normal(4)))[0] == "MulBackward0"
    assert names(torch.einsum("ij,jk->ik", w, normal(4, 2)))[:4] == [
        "ViewBackward0", "PermuteBackward0", "ViewBackward0", "BmmBackward0"]


def test_the_gradient_of_a_transposed_weight_is_row_major() -> None:
    weight = normal(4, 3).requires_grad_()
    torch.addmm(normal(4), normal(2, 3), weight.t()).sum().backward()
    assert weight.grad.numpy().flags.c_contiguous


@pytest.mark.parametrize(("call", "message"), [
    (lambda: normal(2, 3) @ normal(4, 5), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    (lambda: normal(2, 3) @ normal(4), r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
    (lambda: normal(3) @ normal(4), "inconsistent tensor size, expected tensor"),
    (lambda: normal(2, 2, 3) @ normal(3, 3, 4), r"The size of tensor a \(2\) must match the size of tensor b \(3\)"),
    (lambda: torch.tensor(1.0) @ torch.ones(3), "both arguments to matmul need to be at least 1D"),
    (lambda: normal(2, 3, dtype="float32") @ normal(3, 4),
     "expected m1 and m2 to have the same dtype, but got: float != double"),
    (lambda: torch.ones(2, 3).long() @ torch.ones(3, 4), "have the same dtype, but got: long int != float"),
    (lambda: torch.mm(normal(3), normal(3, 4)), "self must be a matrix"),
    (lambda: torch.bmm(normal(2, 2, 3), normal(2, 4, 4)), r"to be: \[2, 3\] but got: \[2, 4\]"),
    (lambda: torch.addmm(normal(3, 4), normal(2, 3), normal(3, 4)),
     r"The expanded size of the tensor \(2\) must match"),
    (lambda: torch.einsum("ij,jk->il", normal(2, 3), normal(3, 4)), "output subscript l does not appear"),
    (lambda: torch.einsum("ij", normal(2, 3, 4)), "does not match the number of dimensions"),
    (lambda: torch.tensordot(normal(3, 4), normal(4, 5), 2), "contracted dimensions need to match"),
])
def test_refusals(call: Function, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()


def test_other_refusals() -> None:
    flags = torch.ones(2, 2) > 0
    with pytest.raises(NotImplementedError, match="\"addmm_impl_cpu_\" not implemented for 'Bool'"):
        flags @ flags
    with pytest.raises(TypeError, match="unsupported operand"):
        normal(2, 2) @ 3
    with pytest.raises(TypeError, match=r"matmul\(\): argument 'other' \(position 2\) must be Tensor, not int"):
        torch.matmul(normal(2, 2), 3)


def test_other_types() -> None:
    ints = torch.tensor([[1, 2], [3, 4]])
    assert (ints @ ints).tolist() == [[7, 10], [15, 22]]
    assert torch.addmm(ints, ints, ints, beta=2.5, alpha=2).tolist() == [[16, 24], [36, 52]]
    assert (ints.to(torch.float16) @ ints.to(torch.float16)).dtype is torch.float16
    z, w = normal(2, 3, dtype="complex128").requires_grad_(), normal(3, 2, dtype="complex128")
    cotangent = normal(2, 2, dtype="complex128")
    (g,) = torch.autograd.grad(z @ w, z, cotangent)
    np.testing.assert_allclose(g.numpy(), cotangent.numpy() @ w.numpy().conj().T)
    assert torch.trace(ints.to(torch.int8)).dtype is torch.int64


def test_what_beta_0_leaves_out_may_be_nan() -> None:
    nans = torch.full((2, 2), float("nan"))
    assert torch.addmm(nans, torch.eye(2), torch.eye(2), beta=0).tolist() == [[1, 0], [0, 1]]


def test_in_place() -> None:
    x = normal(2, 2).requires_grad_()
    y = x * 1
    assert y.addmm_(torch.eye(2).double(), x, beta=2) is y
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full((2, 2), 3.0))


def test_an_array_may_stand_beside_the_operator() -> None:
    x = torch.ones(2, 3)
    assert (x @ np.ones((3, 2), "float32")).tolist() == [[3, 3], [3, 3]]


def test_a_repeated_gradient_multiplies_as_any_other() -> None:
    x, y = normal(30, 40).requires_grad_(), normal(40, 30)
    (x @ y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.ones((30, 30)) @ y.numpy().T)


def test_vander_of_a_number_has_one_row():
    assert torch.linalg.vander(torch.tensor(2.), N=3).tolist() == [[1., 2., 4.]]
