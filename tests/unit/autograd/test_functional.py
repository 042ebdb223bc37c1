"""torch.autograd.functional against closed forms: values, nesting, what can be differentiated again, refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from retrograd.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from retrograd.graph.route import Route
from retrograd.utils.checkpoint import checkpoint


def vector(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64)


def cubic(x: Any) -> Any:
    return (x * x * x).sum()


def two_by_two(x: Any, y: Any) -> Any:
    return x.sum() * y, (x * x).sum() + y.sum()


X, Y = vector(1.0, 2.0), vector(3.0, 4.0, 5.0)
ways = pytest.mark.parametrize(
    "options", [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}, {"create_graph": True}]
)


@ways
def test_a_jacobian_has_the_shape_of_output_then_input(options: dict[str, Any]) -> None:
    matrix = vector(1, 2, 3, 4).reshape(2, 2)
    found = jacobian(lambda a: a @ a, matrix, **options)
    assert found.shape == (2, 2, 2, 2)
    eye, m = np.eye(2), matrix.numpy()
    expected = np.einsum("ik,lj->ijkl", eye, m) + np.einsum("ik,lj->ijkl", m, eye)
    np.testing.assert_allclose(found.detach().numpy(), expected)
    assert jacobian(lambda a: a.sum(), X, **options).tolist() == [1, 1]
    assert jacobian(lambda a: a * X, torch.tensor(1.0, dtype=torch.float64), **options).tolist() == [1, 2]


@ways
def test_nesting_follows_the_tuples(options: dict[str, Any]) -> None:
    both = jacobian(two_by_two, (X, Y), **options)
    assert [[block.tolist() for block in row] for row in both] == [
        [[[3, 3], [4, 4], [5, 5]], [[3, 0, 0], [0, 3, 0], [0, 0, 3]]],
        [[2, 4], [1, 1, 1]],
    ]
    by_output = jacobian(lambda a: (a * 2, a.sum()), X, **options)
    assert [block.tolist() for block in by_output] == [[[2, 0], [0, 2]], [1, 1]]
    by_input = jacobian(lambda a, b: a.sum() * b.sum(), (X, Y), **options)
    assert [block.tolist() for block in by_input] == [[12, 12], [3, 3, 3]]


@ways
def test_what_does_not_depend_has_zeros(options: dict[str, Any]) -> None:
    blocks = jacobian(lambda a, b: (a.detach() * 2, b * 2), (X, X), **options)
    assert [[bool(block.any()) for block in row] for row in blocks] == [[False, False], [False, True]]
    assert jacobian(lambda a: torch.ones(3), X, **options).shape == (3, 2)
    assert jacobian(lambda a: a[:0], X, **options).shape == (0, 2)


def test_a_hessian() -> None:
    assert hessian(cubic, X).tolist() == [[6, 0], [0, 12]]
    blocks = hessian(lambda a, b: (a * a).sum() * b.sum(), (X, Y))
    assert blocks[0][0].tolist() == [[24, 0], [0, 24]]
    assert blocks[0][1].tolist() == [[2, 2, 2], [4, 4, 4]]
    assert blocks[1][0].tolist() == [[2, 4]] * 3
    assert blocks[1][1].tolist() == [[0, 0, 0]] * 3
    forward = hessian(cubic, X, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert forward.tolist() == [[6, 0], [0, 12]]


# Rounded, since the derivative of a product divides by its factors, and a square of the tiniest of them is 0.
numbers = st.floats(-2, 2).map(lambda value: round(value, 3))


@given(st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3))
def test_products_are_rows_and_columns_of_the_whole(point: list[float], direction: list[float]) -> None:
    def function(a: Any) -> Any:
        return torch.stack([a.prod(), (a * a).sum()])

    x, v = vector(*point), vector(*direction)
    whole, second = jacobian(function, x).numpy(), hessian(cubic, x).numpy()
    np.testing.assert_allclose(jvp(function, x, v)[1].numpy(), whole @ v.numpy(), atol=1e-12)
    np.testing.assert_allclose(vjp(function, x, v[:2])[1].numpy(), v.numpy()[:2] @ whole, atol=1e-12)
    np.testing.assert_allclose(hvp(cubic, x, v)[1].numpy(), second @ v.numpy(), atol=1e-12)
    np.testing.assert_allclose(vhp(cubic, x, v)[1].numpy(), v.numpy() @ second, atol=1e-12)


@pytest.mark.parametrize("product", [vjp, jvp, hvp, vhp])
def test_a_product_of_a_single_number_needs_no_vector(product: Callable[..., Any]) -> None:
    value, slope = product(lambda a: a * a * a, torch.tensor(2.0))
    assert (value.item(), slope.item()) == (8, 12)
    with pytest.raises(RuntimeError, match="^The vector v can only be None if"):
        product(lambda a: a if product is vjp else a.sum(), X)


@pytest.mark.parametrize("product", [vjp, jvp, hvp, vhp])
@pytest.mark.parametrize("create_graph", [False, True])
def test_results_have_history_only_where_it_is_asked_for(product: Callable[..., Any], create_graph: bool) -> None:
    x = vector(1, 2).requires_grad_()
    function = cubic if product in (hvp, vhp) else lambda a: a * a * a
    value, slope = product(function, x, X, create_graph=create_graph)
    assert value.requires_grad is slope.requires_grad is create_graph
    assert x.grad is None
    if create_graph:
        assert torch.autograd.grad(slope.sum(), x)[0].tolist() == ([6, 12] if product in (hvp, vhp) else [6, 24])


def test_a_jacobian_can_be_differentiated() -> None:
    x = vector(1, 2).requires_grad_()
    for vectorize in (False, True):
        blocks = jacobian(lambda a: (a * a * a, a.sum()), x, create_graph=True, vectorize=vectorize)
        assert torch.autograd.grad(blocks[0].sum(), x)[0].tolist() == [6, 12]
        assert blocks[1].requires_grad is vectorize
    assert hessian(cubic, x, create_graph=True).requires_grad
    assert not hessian(cubic, x).requires_grad


def test_it_works_under_no_grad_and_leaves_grad_mode_and_inputs_as_they_were() -> None:
    x = vector(1, 2)
    with torch.no_grad():
        assert jacobian(lambda a: a * a, x).tolist() == [[2, 0], [0, 4]]
        assert not torch.is_grad_enabled()

        def fail(a: Any) -> Any:
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            jacobian(fail, x)
        assert not torch.is_grad_enabled()
    assert not x.requires_grad


def test_the_rows_have_each_inputs_dtype_and_the_columns_the_outputs() -> None:
    single = X.float()
    assert jacobian(lambda a: a.double() * 2, single).dtype is torch.float32
    assert jacobian(lambda a: a.double() * 2, single, vectorize=True, strategy="forward-mode").dtype is torch.float64


def test_complex_functions() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    with pytest.raises(RuntimeError, match="^grad can be implicitly created only for real scalar outputs but got"):
        jacobian(lambda a: a * a, z)
    found = jacobian(lambda a: a * a, z, vectorize=True)
    assert found.diagonal().tolist() == [2 - 4j, 6 + 2j]
    assert vjp(lambda a: (a * a.conj()).real, z, torch.ones(2))[1].tolist() == [2 + 4j, 6 - 2j]


def constant(a: Any) -> Any:
    return torch.ones(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vjp(constant, X, X, strict=True), "Output 0 of the user-provided function does not require gradients"),
        (lambda: vjp(lambda a, b: a * 2, (X, X), X, strict=True), "The output of the user-provided function is indepe"),
        (lambda: vjp(lambda a: a * 2, X, X, strict=True, create_graph=True), "The jacobian of the user-provided funct"),
        (lambda: jvp(lambda a, b: a * 2, (X, X), (X, X), strict=True), "The output of the user-provided function is i"),
        (lambda: jvp(lambda a: a * 2, X, X, strict=True, create_graph=True), "The jacobian of the user-provided funct"),
        (lambda: jacobian(lambda a, b: a * 2, (X, X), strict=True), "Output 0 of the user-provided function is indepe"),
        (lambda: jacobian(lambda a: a * 2, X, strict=True, create_graph=True), "The jacobian of the user-provided fun"),
        (lambda: hessian(lambda a: a.sum(), X, strict=True), "While computing the hessian, found that the jacobian of"),
        (lambda: hvp(lambda a: a.sum(), X, X, strict=True), "While computing the hessian, found that the jacobian of "),
        (lambda: vhp(lambda a: a.sum(), X, X, strict=True), "While computing the hessian, found that the jacobian of "),
        (lambda: vhp(lambda a, b: cubic(a) + b.sum(), (X, X), (X, X), strict=True), "While computing the hessian, fou"),
    ],
)
def test_in_strict_mode_independence_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_passes_for_rows_share_their_route_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """One route serves all rows. A checkpoint, which adds edges to a pass, and hooks work in each row."""
    routes, rows, begin = list[int](), list[Any](), Route.__init__
    monkeypatch.setattr(Route, "__init__", lambda self, *args: (routes.append(1), begin(self, *args))[-1])

    def times_its_sum(x: Any) -> Any:
        y = x * x
        y.register_hook(lambda g: rows.append(g.tolist()))
        z = checkpoint(lambda a: a * x, y, use_reentrant=False)
        return z * z.sum()

    found = jacobian(times_its_sum, X)
    cubes, slopes = X.numpy() ** 3, 3 * X.numpy() ** 2
    np.testing.assert_allclose(found.numpy(), slopes * (np.eye(2) * cubes.sum() + cubes[:, None]))
    assert len(routes) == 1
    np.testing.assert_allclose(rows, X.numpy() * (np.eye(2) * cubes.sum() + cubes[:, None]))


STEPS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a * b,
    lambda a, b: a + b.sum(),
    lambda a, b: torch.stack((a, b)).prod(0),
    lambda a, b: torch.cat((b, a))[1:-1],
    lambda a, b: a.view(2, 1).expand(2, 2).T @ b.exp(),
    lambda a, b: a.to(torch.float32).sin().double() + b**3,
    lambda a, b: torch.where(a > b, a, 2 * b),
    lambda a, b: a.sort().values - b.unbind()[0],
    lambda a, b: (a.to(torch.complex128) * (1 + 1j) * b).real,
]


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 3), min_size=1, max_size=6), st.booleans())
def test_a_jacobian_has_the_bits_of_one_pass_for_each_row(program: list[tuple[int, int, int]], shared: bool) -> None:
    """Whichever way the rows go: a program of any operators, with several uses of a value."""

    def run(x: Any, y: Any) -> Any:
        values = [x, y]
        for step, left, right in program:
            values.append(STEPS[step](values[left % len(values)], values[right % len(values)]))
        return values[-1] + values[-2] if shared else values[-1]

    xs = (vector(0.5, -1.25), vector(0.25, 0.75))
    found = jacobian(run, xs)
    leaves = [x.clone().requires_grad_() for x in xs]
    out = run(*leaves)
    for i in range(2):
        row = torch.autograd.grad(out[i], leaves, retain_graph=True, allow_unused=True)
        for block, g in zip(found, row):
            assert block[i].tolist() == ([0, 0] if g is None else g.tolist())


def test_rows_refuse_what_was_written_to_or_released() -> None:
    def written(x: Any) -> Any:
        y = x * 1
        z = y.exp() * y
        y.add_(1)
        return z

    def released(x: Any) -> Any:
        y = x.exp()
        torch.autograd.grad(y.sum(), x)
        return y

    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation has been modified"):
        jacobian(written, X)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        jacobian(released, X)


def test_rows_run_a_function_of_the_program_and_anomaly_mode_as_any_pass() -> None:
    """A backward of the program may do anything, so such rows are passes of the engine."""
    modes = list[bool]()

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            modes.append(torch.is_grad_enabled())
            return 2 * g

    assert jacobian(lambda x: Twice.apply(x * x), X).tolist() == [[4, 0], [0, 8]]
    assert modes == [False, False]
    with (
        pytest.warns(UserWarning, match="Anomaly Detection|Error detected"),
        torch.autograd.detect_anomaly(),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        jacobian(lambda x: (x - x).sqrt() * 0, X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jacobian(cubic, [X]), TypeError, "The inputs given to jacobian must be either a Tensor or a tuple of"),
        (lambda: jacobian(lambda a: [a], X), TypeError, "The outputs of the user-provided function given to jacobian "),
        (lambda: vjp(cubic, (X, 3), X), TypeError, "The inputs given to vjp must be either a Tensor or a tuple of Ten"),
        (lambda: jacobian(cubic, torch.tensor([1])), RuntimeError, "only Tensors of floating point dtype can require"),
        (lambda: vjp(lambda a: a, X, Y), RuntimeError, "v has invalid size: should be torch.Size([2]) but got torch.S"),
        (lambda: vjp(lambda a: (a, a), X, X), RuntimeError, "v is a tuple of invalid length: should be 2 but got 1"),
        (lambda: vjp(lambda a: a, X, (X, X)), RuntimeError, "The given v should contain a single Tensor"),
        (lambda: jvp(two_by_two, (X, Y), (X, X)), RuntimeError, "Entry 1 in v has invalid size"),
        (lambda: hvp(lambda a: a, X, X), RuntimeError, "The Tensor returned by the function given to hvp should conta"),
        (lambda: vhp(lambda a: (a.sum(),), X, X), RuntimeError, "The function given to vhp should return a single Ten"),
        (lambda: hessian(lambda a: a, X), RuntimeError, "The Tensor returned by the function given to hessian should"),
        (lambda: jacobian(cubic, X, strategy="sideways"), AssertionError, "Expected strategy to be either"),
        (lambda: hessian(cubic, X, outer_jacobian_strategy="up"), AssertionError, "Expected strategy to be either"),
        (lambda: jacobian(cubic, X, strategy="forward-mode"), NotImplementedError, "Computing Jacobian using forward-"),
        (lambda: jacobian(cubic, X, True, strategy="forward-mode"), NotImplementedError, "torch.autograd.functional.j"),
        (lambda: jacobian(cubic, X, False, True, strategy="forward-mode"), RuntimeError, "torch.autograd.functional.j"),
        (lambda: jacobian(cubic, X, strict=True, vectorize=True), RuntimeError, "torch.autograd.functional.jacobian: "),
    ],
)
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_an_error_in_a_rule_of_a_jacobian_says_which_rule() -> None:
    weight = torch.ones(3, 2)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients") as error:
        jacobian(lambda w: torch.nn.functional.embedding(torch.tensor([0, 2]), w, sparse=True,
                                                         scale_grad_by_freq=True), weight)
    assert any("of embedding for its argument 'weight'" in note for note in error.value.__notes__)
