"""One expression, run by PyTorch and by retrograd: what must be alike, from the value to the second derivative.

A case is a function of a torch-like module and of tensors. `compare` runs it on both and looks at values, dtypes,
shapes, which results require grad, the names in the graph, gradients, gradients of gradients, or the error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import torch

import retrograd

Case = Callable[..., Any]
TOLERANCE = {"float16": 4e-3, "float32": 3e-5, "complex64": 3e-5, "float64": 1e-10, "complex128": 1e-10}


def tensor_of(library: Any, array: np.ndarray[Any, Any]) -> Any:
    """A tensor of the values, laid out as they are."""
    if array.size:
        return library.from_numpy(array.copy(order="K"))
    # Where there are no elements, NumPy's strides are 0, and PyTorch would take them as they are.
    return library.from_numpy(np.zeros((), array.dtype)).new_zeros(array.shape)


class Outcome:
    """What one library makes of a case: the results as tensors, or the error."""

    def __init__(self, library: Any, case: Case, arrays: Sequence[Any], requires_grad: bool) -> None:
        self.library = library
        self.leaves = [self.tensor(a, requires_grad) if isinstance(a, np.ndarray) else a for a in arrays]
        self.error: Exception | None = None
        self.results: list[Any] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = case(library, *self.leaves)
            self.results = [*found] if isinstance(found, (tuple, list)) else [found]
        except Exception as error:
            self.error = error

    def tensor(self, array: np.ndarray[Any, Any], requires_grad: bool) -> Any:
        tensor = tensor_of(self.library, array)
        return tensor.requires_grad_() if requires_grad and array.dtype.kind in "fc" else tensor

    @property
    def differentiable(self) -> list[Any]:
        return [r for r in self.results if isinstance(r, self.library.Tensor) and r.requires_grad]

    @property
    def inputs(self) -> list[Any]:
        return [leaf for leaf in self.leaves if isinstance(leaf, self.library.Tensor) and leaf.requires_grad]

    def gradients(self, seed: int, order: int) -> list[list[Any]]:
        """The gradients of a random projection of the results, then of a random projection of those.

        The second is by the projection as well, whose gradient is what the rule's own adjoint gives.
        """
        gradients: list[list[Any]] = []
        outputs, inputs = self.differentiable, self.inputs
        for step in range(order):
            draws = np.random.default_rng(seed + step)
            last = step + 1 == order
            cotangents = [self.tensor(_random(draws, tuple(o.shape), as_array(o).dtype), not last) for o in outputs]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")        # such as PyTorch's own, of a mask of bytes that it saved
                    found = self.library.autograd.grad(outputs, inputs, cotangents, create_graph=not last,
                                                       retain_graph=True, allow_unused=True)
            except Exception as error:
                self.error = error
                break
            gradients.append([*found])
            outputs = [g for g in found if g is not None and g.requires_grad]
            inputs = [*inputs, *cotangents]
            if not outputs:
                break
        return gradients


def tangents(library: Any, case: Case, arrays: Sequence[Any], seed: int = 0) -> list[Any]:
    """The tangents of the results, by the forward mode of a library."""
    draws = np.random.default_rng(seed)
    given = [tensor_of(library, _random(draws, a.shape, a.dtype)) for a in arrays]
    forward_ad = library.autograd.forward_ad
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore")
        found = case(library, *[forward_ad.make_dual(tensor_of(library, a), t)
                                for a, t in zip(arrays, given, strict=True)])
        results = [*found] if isinstance(found, (tuple, list)) else [found]
        return [forward_ad.unpack_dual(r).tangent for r in results
                if isinstance(r, library.Tensor) and (r.dtype.is_floating_point or r.dtype.is_complex)]


def _pytorchs_tangents(case: Case, arrays: Sequence[Any]) -> list[Any] | None:
    """PyTorch's tangents; None where it has none for some operator."""
    try:
        return tangents(torch, case, arrays)
    except (NotImplementedError, RuntimeError) as error:
        # The second of a backward pass inside; the third where forward mode drops a tangent of its own.
        if any(words in str(error) for words in ("forward", "does not require grad", "undefined Tensor")):
            return None
        raise


def compare_tangents(case: Case, arrays: Sequence[Any]) -> bool:
    """Compare the tangents with those of PyTorch's forward mode. Whether PyTorch has them."""
    expected = _pytorchs_tangents(case, arrays)
    if expected is None:
        return False
    for i, (t, o) in enumerate(zip(expected, tangents(retrograd, case, arrays), strict=True)):
        if t is None or o is None:
            assert not _nonzero(t), f"tangent {i}: None, torch has {t}"
            assert not _nonzero(o), f"tangent {i}: {o}, torch has None"
        else:
            same_values(t, o, f"tangent {i}", 10.0)
    return True


def depending(library: Any, case: Case, arrays: Sequence[Any], leaves: Sequence[int]) -> list[bool | None] | None:
    """Which gradients of a recorded pass from constants require grad, if the inputs in these places do.

    None stands for a gradient that is None, and for the list if there is nothing to differentiate, or an error.
    """
    outcome = Outcome(library, lambda t, *inputs: inputs, arrays, False)
    for i in leaves:
        outcome.leaves[i].requires_grad_()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = case(library, *outcome.leaves)
            outcome.results = [*found] if isinstance(found, (tuple, list)) else [found]
            outputs, inputs = outcome.differentiable, outcome.inputs
            gradients = library.autograd.grad(outputs, inputs, [library.ones_like(o) for o in outputs],
                                              create_graph=True, allow_unused=True)
    except Exception:
        return None
    return [None if g is None else g.requires_grad for g in gradients]


def compare_dependence(case: Case, arrays: Sequence[Any]) -> None:
    """Compare which gradients of a recorded pass require grad: of all inputs together, and of each alone."""
    places = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]
    for leaves in [places, *([i] for i in places if len(places) > 1)]:
        theirs, ours = (depending(library, case, arrays, leaves) for library in (torch, retrograd))
        assert ours == theirs, f"gradients by inputs {leaves} require grad: {ours}, torch has {theirs}"


def _random(draws: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    values = draws.standard_normal(shape)
    return np.asarray(values + 1j * draws.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def as_array(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor of either library."""
    array: np.ndarray[Any, Any] = tensor.detach().numpy(force=True) if isinstance(tensor, torch.Tensor) else (
        tensor.detach().numpy())
    return array


def graph_names(tensor: Any) -> list[tuple[str, list[tuple[int | None, int]]]]:
    """Every node behind a result, in the order of a walk along the edges: its name, and where its edges lead.

    An edge is the place of a node in this list (None for a constant), and the number of the node's output.
    """
    order: list[Any] = []
    places: dict[Any, int] = {}
    waiting = [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in places:
            places[node] = len(order)
            order.append(node)
            waiting.extend(following for following, _ in reversed(node.next_functions))
    return [(node.name(), [(places.get(following), number) for following, number in node.next_functions])
            for node in order]


def same_graph(theirs: Any, ours: Any, what: str) -> None:
    """Raises AssertionError unless all nodes behind two results have the same names and the same edges."""
    expected, found = graph_names(theirs), graph_names(ours)
    assert found == expected, f"{what}: the nodes are {found}, torch has {expected}"


def same_values(theirs: Any, ours: Any, what: str, scale: float = 1.0) -> None:
    """Raises AssertionError unless two tensors agree in dtype, shape and values, to the accuracy of the dtype."""
    assert str(ours.dtype) == str(theirs.dtype), f"{what}: dtype {ours.dtype}, torch has {theirs.dtype}"
    assert tuple(ours.shape) == tuple(theirs.shape), f"{what}: shape {ours.shape}, torch has {theirs.shape}"
    a, b = as_array(theirs), as_array(ours)
    tolerance = TOLERANCE.get(a.dtype.name, 0.0) * scale
    np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance, equal_nan=True, err_msg=what)


def compare(case: Case, *arrays: Any, grad: bool = True, order: int = 2, names: bool = True, seed: int = 0) -> None:
    """Run the case on both libraries and compare all there is. Arrays become leaves, which require grad if `grad`."""
    theirs, ours = Outcome(torch, case, arrays, grad), Outcome(retrograd, case, arrays, grad)
    if theirs.error is not None or ours.error is not None:
        same_error(theirs.error, ours.error)
        return
    assert len(ours.results) == len(theirs.results)
    for i, (t, o) in enumerate(zip(theirs.results, ours.results, strict=True)):
        if not isinstance(t, torch.Tensor):
            assert o == t
            continue
        same_values(t, o, f"result {i}")
        assert o.requires_grad == t.requires_grad, f"result {i}: requires_grad is {o.requires_grad}"
        if names and t.grad_fn is not None:
            same_graph(t, o, f"result {i}")
    if theirs.differentiable:
        expected, found = theirs.gradients(seed, order), ours.gradients(seed, order)
        if theirs.error is not None or ours.error is not None:
            same_error(theirs.error, ours.error)
            return
        # A gradient that depends on nothing ends the chain earlier.
        for depth, pair in enumerate(zip_longest(expected, found, fillvalue=[]), 1):
            for i, (t, o) in enumerate(zip_longest(*pair)):
                what = f"derivative {depth} by input {i}"
                if t is None or o is None:
                    assert not _nonzero(t), f"{what}: None, torch has {t}"
                    assert not _nonzero(o), f"{what}: {o}, torch has None"
                else:
                    same_values(t, o, what, 10.0)


def _nonzero(tensor: Any) -> bool:
    return tensor is not None and bool(np.any(as_array(tensor)))


def same_error(theirs: Exception | None, ours: Exception | None) -> None:
    assert ours is not None, f"no error, torch raises {type(theirs).__name__}: {theirs}"
    if theirs is None:
        raise AssertionError("torch raises no error") from ours
    same_type = type(ours).__name__ == type(theirs).__name__ or isinstance(ours, type(theirs))
    said = _said(theirs)
    if not same_type or _said(ours) != said:
        raise AssertionError(f"torch raises {type(theirs).__name__}: {said}") from ours


# What is no part of a message: the frames of C++ behind it, and the nearest names behind the name that is wrong.
_BEHIND = re.compile(r"\nException raised from .*|; the nearest: .*", re.DOTALL)


def _said(error: Exception) -> str:
    """The whole message, with `torch` for the name of the package."""
    return _BEHIND.sub("", str(error)).replace("retrograd", "torch")
