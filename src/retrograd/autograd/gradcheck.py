"""gradcheck and gradgradcheck: compare derivatives with finite differences of the function itself.

This module has the order of the checks, the checks of a function's inputs, and the checks of a backward pass itself:
linearity, absent cotangents, and batches of cotangents. `comparison` compares two Jacobians, and `suspects` finds the
op at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.errors import noted, warn
from ..foundations.names import missing, reached
from ..graph.node import ENGINE, OtherNode
from ..kernels.random.distributions import uniform
from ..tensors.arguments.generator import default_generator
from ..tensors.arguments.options import require_grad
from ..tensors.state.base import TensorBase, edge_of, plain, with_edge
from .backward import grad
from .comparison import Check, GradcheckError, compare, requires_grad
from .differences import as_tuple, is_float
from .gradcheck_texts import BATCHED
from .sparse_inputs import with_dense_inputs

if TYPE_CHECKING:
    from ..graph.engine import Pass

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_WHERE = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'


def gradcheck(func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
              raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
              check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
              check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None) -> bool:
    """Compare the gradients of `func(*inputs)` with central differences of step `eps`, and return True if they agree.

    Each input that requires grad should have double precision. Other inputs cause a warning, because they will hardly
    pass. If a gradient differs by more than `atol + rtol * |numerical|`, the call raises GradcheckError, or returns
    False with `raise_exception=False`. The real and the imaginary part of a complex output are checked apart. Two
    backward passes may differ by `nondet_tol`. `check_undefined_grad` also runs backward with absent cotangents.
    `check_forward_ad` also compares tangents with the differences, and `check_batched_forward_grad` batches of them.
    `fast_mode` compares one random projection instead of every element. Autograd gives every gradient the dtype of its
    input, so `check_grad_dtypes` finds nothing. For sparse inputs, `masked` says whether the function depends on the
    stored elements alone. The notes of an error name the element that differs most, both numbers, and the op that also
    fails alone, with its line. Raises ValueError for a sparse output.

    >>> import retrograd as torch
    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x * x, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise noted(
            AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True"),
            "gradcheck#nothing-to-check")
    for name, given, needs, met in (
            ("check_batched_grad", check_batched_grad, "check_backward_ad", check_backward_ad),
            ("check_batched_forward_grad", check_batched_forward_grad, "check_forward_ad", check_forward_ad)):
        if given and not met:
            raise noted(
                AssertionError(f"Setting {name}=True requires {needs} to be True"), "gradcheck#needs-backward-ad")
    func, xs = with_dense_inputs(func, as_tuple(inputs), bool(masked))
    phases = _phases(check_backward_ad, check_undefined_grad, check_batched_grad, check_forward_ad,
                     check_batched_forward_grad)
    check = Check(func, xs, eps, atol, rtol, nondet_tol, fast_mode)
    return _passes(check, phases, raise_exception, lambda fails: (func, xs, fails))


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
                  rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
                  nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
                  check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """Compare the second derivatives of `func` with central differences of the first, and return True if they agree.

    The check treats the first derivatives as a function of the inputs and of the cotangents `grad_outputs`. By default
    the cotangents are random. The options are those of `gradcheck`.

    >>> import retrograd as torch
    >>> x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise noted(
            AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"),
            "gradcheck#no-second-order-to-check")
    for name, given in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if given and not check_rev_over_rev:
            raise noted(
                AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True"),
                "gradcheck#needs-rev-over-rev")
    func, xs = with_dense_inputs(func, as_tuple(inputs), masked)
    derivative, args = _derivative(func, xs, grad_outputs, gen_non_contig_grad_outputs)
    phases = _phases(check_rev_over_rev, check_undefined_grad, check_batched_grad, check_fwd_over_rev, False)
    check = Check(derivative, args, eps, atol, rtol, nondet_tol, fast_mode)

    def examined(fails: Fails) -> tuple[Any, tuple[Any, ...], Fails]:
        """The function itself, with the check of the derivative of each op of it."""
        return func, xs, lambda op, given, full: fails(*_derivative(op, given, None, False), full)

    return _passes(check, phases, raise_exception, examined)


def _derivative(func: Callable, xs: tuple[Any, ...], grad_outputs: Any,
                strided: bool) -> tuple[Callable, tuple[Any, ...]]:
    """The function of the inputs and of cotangents that computes the gradients, and its arguments."""
    if grad_outputs is None:
        outputs = [o for o in as_tuple(func(*xs)) if requires_grad(o)]
        cotangents = tuple([_random_cotangent(o, strided) for o in outputs])
    else:
        cotangents = as_tuple(grad_outputs)
    count = len(cotangents)
    wanted = [i for i, x in enumerate(xs) if requires_grad(x)]

    def first_order(*args: Any) -> tuple[Any, ...]:
        split = len(args) - count
        for i in wanted:
            if not requires_grad(args[i]):                 # forward mode passes dual tensors of constants
                require_grad(args[i])
        outputs = [o for o in as_tuple(func(*args[:split])) if requires_grad(o)]
        found = grad(outputs, [args[i] for i in wanted], args[split:], create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return first_order, xs + cotangents


def _random_cotangent(like: TensorBase, strided: bool) -> Any:
    """Numbers from -1 to 1 that require grad. With `strided` they are every other element of an array twice as long."""
    shape = like._array.shape
    array = uniform(default_generator.twister, shape, like._array.dtype, -1.0, 1.0)
    if strided and array.ndim:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    cotangent = plain(array)
    cotangent.requires_grad = True
    return cotangent


# The steps of a check

Phase = Callable[[Check], None]
Fails = Callable[[Callable, tuple[Any, ...], bool], None]


def _phases(backward: bool, undefined: bool, batched: bool, forward: bool, batched_forward: bool) -> list[Phase]:
    """The checks of the modes that are to be checked."""
    phases: list[Phase] = []
    if backward:
        phases.append(partial(_run, undefined=undefined, batched=batched))
    if forward:
        phases.append(partial(_run_forward, batched=batched_forward))
    return phases


def _passes(check: Check, phases: list[Phase], raise_exception: bool,
            examined: Callable[[Fails], tuple[Any, tuple[Any, ...], Fails]]) -> bool:
    """Whether a function passes all phases. If it does not, the error also names the op at fault.

    `examined` gives the function in which the op is looked for, and the check of one op.
    """
    for phase in phases:
        try:
            _check_inputs(check.inputs)
            phase(check)
        except GradcheckError as error:
            if not raise_exception:
                return False

            def fails(op: Callable, given: tuple[Any, ...], full: bool, phase: Phase = phase) -> None:
                phase(check._replace(func=op, inputs=given, fast=not full, brief=True))

            noted(error, **reached("autograd.suspects").accusation(*examined(fails)))
            raise
    return True


def _run(check: Check, undefined: bool, batched: bool) -> None:
    returned = check.outputs()
    outputs = [o for o in returned if requires_grad(o)]
    if any(o._array.dtype.kind == "c" for o in returned if isinstance(o, TensorBase)):
        where = frozenset(i for i, o in enumerate(outputs) if o._array.dtype.kind == "c")
        for part in ("imaginary", "real"):
            of_part = check._replace(func=_part_of(check.func, part), part=part, complex_outputs=where)
            compare(of_part, of_part.outputs())
    else:
        compare(check, returned)
    if outputs:
        if batched:
            for i, out in enumerate(outputs):
                _check_batched_pass(check, out, i)
        _check_linear(check, outputs)
        if undefined:
            _check_undefined(check, len(outputs))


def _run_forward(check: Check, batched: bool) -> None:
    """Compare tangents. The parts of complex inputs are compared apart."""
    forward = reached("autograd.forward_comparison")
    complex_inputs = any(x._array.dtype.kind == "c" for x in check.differentiable)
    for of_inputs in ("imaginary", "real") if complex_inputs else ("",):
        of_real = forward.of_real_inputs(check, of_inputs) if of_inputs else check
        returned = of_real.outputs()
        places = [i for i, o in enumerate(filter(is_float, returned)) if requires_grad(o)]
        forward.compare_forward(of_real, places, [o._array.shape for o in returned if requires_grad(o)])
    if batched:
        forward.check_batched_tangents(check)


def _check_inputs(inputs: Sequence[Any]) -> None:
    """Raise an error for inputs whose elements cannot change one by one. Warn of single precision."""
    for i, x in enumerate(inputs):
        if not requires_grad(x):
            continue
        array = x._array
        if array.dtype not in (np.float64, np.complex128):
            warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                 "will likely fail if all the inputs are not of double precision floating point or complex. ")
        if any(stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape)):
            raise noted(
                RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                             "are non-overlapping to be able to compute the numerical gradients correctly. You "
                             "should call .contiguous on the input before passing it to gradcheck."),
                "gradcheck#stride-0")
    if not any(map(requires_grad, inputs)):
        raise noted(
            ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have "
                       "requires_grad=True."), "gradcheck#no-input-requires-grad")


def _part_of(func: Callable, part: str) -> Callable:
    """`func` with the real or imaginary part instead of each complex output."""

    def of_part(*inputs: Any) -> tuple[Any, ...]:
        return tuple([(o.real if part == "real" else o.imag) if is_float(o) and o._array.dtype.kind == "c" else o
                      for o in as_tuple(func(*inputs))])

    return of_part


# The checks of a backward pass itself


class UndefinedGrad(OtherNode):
    """An identity that passes on no gradient: the nodes before it get an absent gradient."""

    __slots__ = ()
    namespace = ENGINE

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        return [None]


def _cut(out: TensorBase) -> Any:
    """The output, behind an `UndefinedGrad`."""
    array = out._array
    return with_edge(array, UndefinedGrad((edge_of(out),), array.shape, array.dtype))


def _zeros(outputs: list[Any]) -> list[Any]:
    return [plain(np.zeros(o._array.shape, o._array.dtype)) for o in outputs]


def _check_linear(check: Check, outputs: list[Any]) -> None:
    """Raise GradcheckError if the backward returns a nonzero gradient for a cotangent of zeros."""
    for g in grad(outputs, check.differentiable, _zeros(outputs), allow_unused=True):
        if g is not None and np.any(g._array != 0):
            raise noted(GradcheckError("backward not multiplied by grad_output"), "gradcheck#not-multiplied")


def _check_undefined(check: Check, count: int) -> None:
    """Raise GradcheckError if the backward fails, or returns a nonzero gradient, when cotangents are absent."""
    choices: list[range | list[int]] = [range(count)]
    if count > 1:
        choices += [[i] for i in range(count)]
    for absent in choices:
        outputs = [o for o in check.outputs() if requires_grad(o)]
        outputs = [_cut(o) if i in absent else o for i, o in enumerate(outputs)]
        try:
            found = grad(outputs, check.differentiable, _zeros(outputs), allow_unused=True)
        except RuntimeError as error:
            _warn()
            raise noted(
                GradcheckError(f"Expected backward function to handle undefined output grads. {_WHERE}"),
                "gradcheck#undefined-output-grads") from error
        if any(g is not None and np.any(g._array != 0) for g in found):
            _warn()
            raise noted(
                GradcheckError("Expected all input grads to be undefined or zero when all output grads are "
                               f"undefined or zero. {_WHERE}"), "gradcheck#undefined-input-grads")


def _warn() -> None:
    warn("Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
         "break existing callers of this function. If this is true for you, you can call this function with "
         '"check_undefined_grad=False" to disable the feature')


def _check_batched_pass(check: Check, out: TensorBase, number: int) -> None:
    """Raise GradcheckError if the gradients of a batch of cotangents differ from those of each cotangent alone."""
    stream = np.random.default_rng(0)
    batch = stream.uniform(-1, 1, (2, *out._array.shape)).astype(out._array.dtype)
    xs = check.differentiable
    try:
        together = grad(out, xs, plain(batch), retain_graph=True, allow_unused=True, is_grads_batched=True)
    except RuntimeError as error:
        raise noted(
            GradcheckError(f"While computing batched gradients, got: {error}\n\n{BATCHED}"),
            "gradcheck#batched-gradients") from error
    for row in range(2):
        alone = grad(out, xs, plain(batch[row]), retain_graph=True, allow_unused=True)
        for j, (a, b) in enumerate(zip(together, alone)):
            if a is not None and not np.allclose(a._array[row], b._array):
                raise GradcheckError(f"For output {number} and input {j}:\n\n{BATCHED}")
