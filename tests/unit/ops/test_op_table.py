"""Every operator of the table, without PyTorch: its rules in both modes, to second order, and its kind's promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as torch
from op_table.queries import stated_ops
from op_table.sparse import SPARSE
from op_table.table import TABLE, Entry
from retrograd.ops import basic
from retrograd.ops.elementwise.arithmetic import IN_HALF
from retrograd.ops.framework import Op

STEP = 1e-6
Array = np.ndarray[Any, Any]
Samples = list[tuple[list[Array], list[Array]]]            # inputs and cotangents


class Case(NamedTuple):
    """An entry, and the type of its inputs."""

    entry: Entry
    dtype: str

    def __str__(self) -> str:
        return f"{self.entry}-{self.dtype}"

    def samples(self) -> list[list[Array]]:
        return [*self.entry.samples(self.dtype)]


# What PyTorch has no counterpart of.
OURS = [Entry("np.positive", lambda t, x: np.positive(x))]
EVERY = [Case(entry, dtype) for entry in [*TABLE, *OURS, *SPARSE]
         for kind, dtype in (("f", "float64"), ("c", "complex128"))
         if kind in entry.kinds]
CASES = [case for case in EVERY if not case.entry.refused]


def each(cases: Iterable[Case]) -> Callable[[Any], Any]:
    return pytest.mark.parametrize("case", cases, ids=str)


def outputs(entry: Entry, inputs: list[Any]) -> list[Any]:
    """The results that have a gradient."""
    found = entry.call(torch, *inputs)
    results = found if isinstance(found, tuple | list) else [found]
    return [r for r in results if r.requires_grad]


def leaves(arrays: list[Array]) -> list[Any]:
    return [torch.tensor(array, requires_grad=True) for array in arrays]


def like(draws: np.random.Generator, array: Array) -> Array:
    values = draws.standard_normal(array.shape)
    return np.asarray(values + 1j * draws.standard_normal(array.shape) if array.dtype.kind == "c" else values)


def some_like(seed: int, arrays: Iterable[Array]) -> list[Array]:
    draws = np.random.default_rng(seed)
    return [like(draws, a) for a in arrays]


def dot(left: Iterable[Array], right: Iterable[Array]) -> float:
    """The real inner product, in which PyTorch's complex gradients are the adjoint."""
    return sum(float(np.real(np.vdot(a, b))) for a, b in zip(left, right, strict=True))


def moved(arrays: list[Array], step: float, directions: list[Array]) -> list[Array]:
    return [a + step * d for a, d in zip(arrays, directions, strict=True)]


def values(entry: Entry, arrays: list[Array]) -> list[Array]:
    return [r.detach().numpy() for r in outputs(entry, leaves(arrays))]


def drawn(case: Case) -> Samples:
    """For each sample of a case, its inputs and some cotangents."""
    return [(arrays, some_like(1, values(case.entry, arrays))) for arrays in case.samples()]


def gradients(results: list[Any], inputs: list[Any], cotangents: list[Any], create_graph: bool = False) -> list[Any]:
    """The gradients of the inputs, zeros where a result does not depend on one."""
    found = torch.autograd.grad(results, inputs, cotangents, create_graph=create_graph, allow_unused=True,
                                materialize_grads=True) if results else [torch.zeros_like(x) for x in inputs]
    return [g.to_dense() for g in found]


def vjp(entry: Entry, arrays: list[Array], cotangents: list[Array]) -> list[Array]:
    """The gradients of an unrecorded pass."""
    inputs = leaves(arrays)
    return [g.numpy() for g in gradients(outputs(entry, inputs), inputs, [torch.tensor(c) for c in cotangents])]


def recorded_vjp(entry: Entry, arrays: list[Array], cotangents: list[Array]) -> tuple[list[Any], list[Any]]:
    """The inputs and the cotangents as leaves, and the gradients with the graph of their computation."""
    inputs, given = leaves(arrays), leaves(cotangents)
    return [*inputs, *given], gradients(outputs(entry, inputs), inputs, given, create_graph=True)


def rules_agree_with_finite_differences(case: Case, samples: Samples) -> None:
    for arrays, cotangents in samples:
        directions = some_like(2, arrays)
        above, below = (values(case.entry, moved(arrays, step, directions)) for step in (STEP, -STEP))
        numerical = dot(cotangents, [(p - m) / (2 * STEP) for p, m in zip(above, below, strict=True)])
        analytical = dot(vjp(case.entry, arrays, cotangents), directions)
        assert analytical == pytest.approx(numerical, rel=1e-5, abs=1e-6)


def a_recorded_pass_gives_the_gradients_of_a_raw_one(case: Case, samples: Samples) -> None:
    for arrays, cotangents in samples:
        _, recorded = recorded_vjp(case.entry, arrays, cotangents)
        for a, b in zip(vjp(case.entry, arrays, cotangents), recorded, strict=True):
            assert (a.dtype, a.shape) == (b.detach().numpy().dtype, b.shape)
            np.testing.assert_allclose(a, b.detach().numpy(), rtol=1e-12, atol=1e-12)


def second_derivatives_agree_with_finite_differences(case: Case, samples: Samples) -> None:
    """The gradient is a function of the inputs and of the cotangents; this is the derivative by all of them."""
    for arrays, cotangents in samples:
        inputs, first = recorded_vjp(case.entry, arrays, cotangents)
        followed = [g for g in first if g.requires_grad]
        weights = some_like(3, (g.detach().numpy() for g in first))
        second = gradients(followed, inputs, [torch.tensor(w) for w, g in zip(weights, first, strict=True)
                                              if g.requires_grad])
        at, n = [*arrays, *cotangents], len(arrays)
        directions = some_like(4, at)
        shifted = (moved(at, step, directions) for step in (STEP, -STEP))
        above, below = (vjp(case.entry, s[:n], s[n:]) for s in shifted)
        numerical = dot(weights, [(p - m) / (2 * STEP) for p, m in zip(above, below, strict=True)])
        analytical = dot((s.numpy() for s in second), directions)
        assert analytical == pytest.approx(numerical, rel=2e-5, abs=2e-6)


def inputs_in_any_layout_give_the_same(case: Case, samples: Samples) -> None:
    for arrays, cotangents in samples:
        strided = [np.asfortranarray(np.repeat(a[..., None], 2, -1))[..., 0] for a in arrays]
        tensors = [torch.from_numpy(a).requires_grad_() for a in strided]
        found = gradients(outputs(case.entry, tensors), tensors, [torch.tensor(c) for c in cotangents])
        for a, b in zip(vjp(case.entry, arrays, cotangents), found, strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-10, atol=1e-12)


def the_tangent_is_the_adjoint_of_the_gradient(case: Case, samples: Samples) -> None:
    """The gradient is linear in the cotangent, so its own gradient by that is the tangent: <c, J t> = <J' c, t>."""
    for arrays, cotangents in samples:
        directions = some_like(2, arrays)
        everything, first = recorded_vjp(case.entry, arrays, cotangents)
        given = everything[len(arrays):]
        followed = [(g, torch.tensor(d)) for g, d in zip(first, directions, strict=True) if g.requires_grad]
        tangents = gradients([g for g, _ in followed], given, [d for _, d in followed])
        expected = dot((g.detach().numpy() for g in first), directions)
        assert dot(cotangents, (t.numpy() for t in tangents)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def the_gradient_is_linear_in_the_cotangent(case: Case, samples: Samples) -> None:
    for arrays, cotangents in samples:
        one, other = some_like(5, cotangents), some_like(6, cotangents)
        pull = partial(vjp, case.entry, arrays)
        expected = moved([2.0 * g for g in pull(one)], -3.0, pull(other))
        for a, b in zip(pull(moved([2.0 * c for c in one], -3.0, other)), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@each([case for case in EVERY if case.entry.refused])
def test_what_has_no_derivative_says_so(case: Case) -> None:
    for arrays in case.samples():
        inputs = leaves(arrays)
        said = "^(the )?derivative for (aten::|'|dequantize).* is not implemented"
        with pytest.raises(RuntimeError, match=said):
            gradients(results := outputs(case.entry, inputs), inputs, [torch.ones_like(r) for r in results])


# What the kinds of operators promise


def ops_in_graph(tensors: Iterable[Any]) -> set[Op]:
    """The operators that made the tensors."""
    found, seen, waiting = set(), set(), [t.grad_fn for t in tensors]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "op"):
            found.add(node.op)
        waiting += [n for n, _ in node.next_functions]
    return found


def forward_ops(case: Case) -> set[Op]:
    return set().union(*(ops_in_graph(outputs(case.entry, leaves(arrays))) for arrays in case.samples()))


def backward_ops(case: Case) -> set[Op]:
    """The operators of the gradient, and of the gradient of that."""
    found: set[Op] = set()
    for arrays in case.samples():
        inputs, first = recorded_vjp(case.entry, arrays, some_like(1, values(case.entry, arrays)))
        followed = [g for g in first if g.requires_grad]
        found |= ops_in_graph(followed)
        weights = leaves([g.detach().numpy() for g in followed])
        if case.entry.once:
            with pytest.raises(NotImplementedError):
                gradients(followed, inputs, weights)
            continue
        found |= ops_in_graph(gradients(followed, inputs, weights, create_graph=True))
    return found


def only(kind: str, found: set[Op]) -> bool:
    """Whether all the operators are of this kind. A copy and a change of type are of both."""
    kinds = {op.kind for op in found if op not in (basic.clone, basic.cast)}
    return bool(found) and kinds <= {kind}


def operators_keep_what_their_kind_promises(case: Case, samples: Samples) -> None:
    found = forward_ops(case)
    for arrays, _ in samples:
        if only("linear", found):
            check_linear(case.entry, arrays)
        if only("elementwise", found) and len({a.shape for a in arrays}) == 1:
            check_elementwise(case.entry, arrays)


def check_linear(entry: Entry, arrays: list[Array]) -> None:
    """f(2 x - 3 y) = 2 f(x) - 3 f(y); so f is its own JVP, and the gradient is its adjoint, but for rounding."""
    others = some_like(7, arrays)
    left, right = values(entry, arrays), values(entry, others)
    both = values(entry, moved([2.0 * a for a in arrays], -3.0, others))
    rounding = max((float(np.finfo(v.dtype).eps) for v in left), default=0.0) * 100
    for a, b in zip(both, moved([2.0 * v for v in left], -3.0, right), strict=True):
        np.testing.assert_allclose(a, b, rtol=rounding, atol=rounding)
    cotangents = [c.astype(v.dtype) for c, v in zip(some_like(1, left), left, strict=True)]
    adjoint = dot(vjp(entry, arrays, cotangents), others)
    assert adjoint == pytest.approx(dot(cotangents, right), rel=rounding, abs=rounding)


def check_elementwise(entry: Entry, arrays: list[Array]) -> None:
    """Where inputs and cotangents change in every second element only, the others keep their values and gradients."""
    cotangents = some_like(1, values(entry, arrays))
    before = [*values(entry, arrays), *vjp(entry, arrays, cotangents)]
    shape = arrays[0].shape
    same = np.arange(arrays[0].size).reshape(shape) % 2 == 0

    def elsewhere(array: Array) -> Array:
        return np.where(same, array, np.roll(array, 2).reshape(shape))

    changed, pulled = [elsewhere(a) for a in arrays], [elsewhere(c) for c in cotangents]
    for a, b in zip(before, [*values(entry, changed), *vjp(entry, changed, pulled)], strict=True):
        np.testing.assert_allclose(a[same], b[same], rtol=1e-13, atol=0.0)


ALWAYS = (a_recorded_pass_gives_the_gradients_of_a_raw_one, inputs_in_any_layout_give_the_same)
IF_THE_GRADIENT_IS_THAT_OF_THE_VALUES = (
    rules_agree_with_finite_differences, second_derivatives_agree_with_finite_differences,
    the_tangent_is_the_adjoint_of_the_gradient, the_gradient_is_linear_in_the_cotangent,
    operators_keep_what_their_kind_promises)


@pytest.mark.sampled(5)                                    # the comparison with PyTorch takes all of them
@each(CASES)
def test_derivatives(case: Case) -> None:
    """All checks of an entry in one test: there are so many entries that tests by themselves cost as much as checks."""
    samples = drawn(case)
    for check in (*ALWAYS, *(() if case.entry.conventional else IF_THE_GRADIENT_IS_THAT_OF_THE_VALUES)):
        check(case, samples)


def test_the_table_reaches_every_operator() -> None:
    # Two operators lay out memory anew: for a gradient that a leaf gets, and for the results of transforms.
    # PyTorch refuses the copy of `view_as_complex` if its input requires grad, so no entry can call it. Operators of
    # `IN_HALF` compute for others, which are recorded.
    missing = {op for op in stated_ops() if op.steps and op.node_name != "ViewAsComplexBackward0_copy"} - {
        basic.copy, basic.copy_into, *IN_HALF.values()}
    for reached, cases in ((forward_ops, EVERY), (backward_ops, CASES)):
        for case in sorted(cases, key=lambda case: case.dtype, reverse=True):     # most take float64
            if missing:
                missing -= reached(case)
    assert sorted(f"{op.name} ({op.node_name})" for op in missing) == []
