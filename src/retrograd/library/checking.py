"""opcheck: whether a defined operator keeps to its schema, and whether its fake function and its gradients run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.backward import grad
from ..foundations.errors import noted
from ..kernels.layout import owner_of
from ..ops.overloads import OpOverload, OpOverloadPacket
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_leaves
from .custom import CustomOpDef
from .operators import Operator, tensors_in

DEFAULT = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
_ALL = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static",
        "test_aot_dispatch_dynamic")


class OpCheckError(Exception):
    """A test of `opcheck` failed."""


class MetadataMismatchError(Exception):
    """A fake function makes results of another shape or dtype than the operator."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __repr__(self) -> str:
        return f"MetadataMismatchError(reason={self.reason!r})"


def opcheck(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
            test_utils: str | Sequence[str] = DEFAULT, raise_exception: bool = True, atol: float | None = None,
            rtol: float | None = None) -> dict[str, Any]:
    """Test an operator on arguments. Returns a dictionary from each test to "SUCCESS", or to the error.

    `test_schema` finds writes that the schema does not name. `test_autograd_registration` finds gradients that the
    operator does not know of. `test_faketensor` compares shapes, strides and dtypes of the fake function's results with
    those of the operator. `test_aot_dispatch_dynamic` and `test_aot_dispatch_static` call the fake function and run a
    backward pass. `torch.autograd.gradcheck` tests whether the gradients are right.

    >>> import retrograd as torch
    >>> @torch.library.custom_op("doc::negative", mutates_args=())
    ... def negative(x: torch.Tensor) -> torch.Tensor:
    ...     return -x
    >>> fake = negative.register_fake(torch.empty_like)
    >>> torch.library.opcheck(negative, (torch.ones(1),), test_utils=("test_schema", "test_faketensor"))
    {'test_schema': 'SUCCESS', 'test_faketensor': 'SUCCESS'}

    Raises OpCheckError for the first test that fails, unless `raise_exception` is False; ValueError for an unknown test
    and for what is no operator.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck(op, ...): if you specify one of rtol/atol, you must specify both")
    names = _ALL if test_utils == "ALL" else (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(names) <= set(_ALL):
        raise ValueError(f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {_ALL} but it was "
                         "not")
    overload = op._opoverload if isinstance(op, CustomOpDef) else op
    overload = _unique(overload) if isinstance(overload, OpOverloadPacket) else overload
    if not isinstance(overload, OpOverload):
        raise ValueError("opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
                         f"torch.ops.aten.sin.default, got {type(op)}")
    results: dict[str, Any] = {}
    for name in names:
        try:
            _TESTS[name](overload, args, kwargs or {})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                said = f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                raise OpCheckError(said) from error
            results[name] = error
    return results


def _unique(packet: OpOverloadPacket) -> Any:
    """The only overload of an operator. Raises RuntimeError if there are several."""
    names = packet.overloads()
    if len(names) != 1:
        shown = ["" if name == "default" else name for name in names]
        raise RuntimeError("opcheck can only test operators without overloads. Got the following overloads for "
                           f"{packet._qualified_op_name}: {shown}")
    return getattr(packet, names[0])


def _copied(values: Any) -> Any:
    """The arguments with copies of their tensors, which are leaves."""
    if isinstance(values, Tensor):
        return values.detach().clone().requires_grad_(values.requires_grad)
    if isinstance(values, dict):
        return {name: _copied(value) for name, value in values.items()}
    return type(values)([_copied(value) for value in values]) if isinstance(values, (list, tuple)) else values


def _schema(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    given, named = [_constant(each) for each in _copied(args)], _copied(kwargs)
    before = _copied(given)
    op(*given, **named)
    written = op._schema.written if isinstance(op, Operator) else ()
    names = [a.name for a in op._schema.arguments] if isinstance(op, Operator) else [str(i) for i in range(len(given))]
    for name, old, new in zip(names, before, given):
        for a, b in zip(tensors_in([old]), tensors_in([new])):
            if name not in written and not bool(((a == b) | (a != a)).all()):
                raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _constant(value: Any) -> Any:
    if isinstance(value, list):
        return [_constant(each) for each in value]
    return value.detach() if isinstance(value, Tensor) else value


def _registration(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(op, Operator) and not op.closed and op.backward is None and op.whole is None:
        outputs = tensors_in(_several(op(*_copied(args), **_copied(kwargs))))
        if any([output.requires_grad for output in outputs]):
            raise noted(
                AssertionError(f"{op} has no formula for its gradients, but its kernel records operations."),
                instead="add a formula with register_autograd, or register under CompositeImplicitAutograd")


def _several(result: Any) -> list[Any]:
    return [*result] if isinstance(result, (tuple, list)) else [result]


def _fake(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not isinstance(op, Operator) or op.whole is not None or not op._schema.returns:
        op(*_copied(args), **_copied(kwargs))
        return
    given, named = _copied(args), _copied(kwargs)
    faked = tree_leaves(op.without_numbers(given, named))
    shared = _shares(faked, [given, named])
    given, named = _copied(args), _copied(kwargs)
    found = tree_leaves(op(*given, **named))
    differing = f"When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatch"
    if len(faked) != len(found):
        raise AssertionError(f"{differing} in number of returns {len(faked)} != {len(found)}")
    if shared is not _shares(found, [given, named]):
        raise AssertionError(f"{differing} in outputs_alias_inputs check {shared} != {not shared}")
    for place, (real, fake) in enumerate(zip(found, faked, strict=True)):
        if isinstance(real, Tensor) is not isinstance(fake, Tensor):
            raise AssertionError(f"{differing}ed number of tensor outputs")
        difference = _difference(real, fake) if isinstance(real, Tensor) else ""
        if difference:
            where = f" for output[{place}]" if len(found) > 1 else ""
            raise MetadataMismatchError(f"{differing}ed tensor metadata{where}: {difference}")


def _shares(outputs: Sequence[Any], inputs: Sequence[Any]) -> bool:
    """Whether an output lies in the memory of an input."""
    owners = [owner_of(x._array) for x in tree_leaves(inputs) if isinstance(x, Tensor)]
    return any([owner_of(x._array) is owner for x in outputs if isinstance(x, Tensor) for owner in owners])


def _difference(real: Any, fake: Any) -> str:
    """How the geometry or the dtype of a fake function's result differs; ''. The stride of one element says nothing."""
    if real.storage_offset() != fake.storage_offset():
        return " mismatched storage offset"
    for what, a, b in (("Shapes", real.shape, fake.shape), ("Dtypes", real.dtype, fake.dtype)):
        if a != b:
            return f"{what} {a} and {b} are not equal!"
    strides = real.stride(), fake.stride()
    for dim, (size, a, b) in enumerate(zip(real.shape, *strides, strict=True)):
        if a != b and size > 1 and real.numel():
            return f"Stride mismatch! Strides are {strides[0]} and {strides[1]} (mismatched at {dim})!"
    return ""


def _passes(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(op, Operator) and op.fake is None:
        _fake(op, args, kwargs)
    given, named = _copied(args), _copied(kwargs)
    inputs = [x for x in tensors_in([*given, *named.values()]) if x.requires_grad]
    outputs = [o for o in tensors_in(_several(op(*given, **named))) if o.requires_grad]
    if inputs and outputs:
        grad(outputs, inputs, [o.detach() for o in outputs], allow_unused=True)


_TESTS: dict[str, Callable[[OpOverload, Any, Any], None]] = {
    "test_schema": _schema, "test_autograd_registration": _registration, "test_faketensor": _fake,
    "test_aot_dispatch_static": _passes, "test_aot_dispatch_dynamic": _passes}
