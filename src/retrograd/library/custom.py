"""custom_op: an operator made of one Python function, with methods for all that belongs to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..foundations.devices import device
from .inference import infer_schema
from .operators import defined
from .tags import Tag

OPERATORS: dict[str, CustomOpDef] = {}
_log = logging.getLogger(__name__)


class CustomOpDef:
    """An operator that `custom_op` has made. A call checks the arguments by the schema and runs the function."""

    __module__ = "retrograd.library"

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Any = None) -> None:
        if namespace == "prim":
            raise ValueError("prim is a reserved namespace. Please try creating a library with another name.")
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self._tags = tuple(tags or ()) if isinstance(tags, Iterable) else (tags,)
        operator = self._opoverload = defined(namespace, name + schema, closed=True, again=True)
        outs = any([a.kwarg_only and a.kind == "Tensor" for a in operator._schema.arguments])
        if outs and Tag.out not in self._tags:
            raise NotImplementedError("custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
                                      f"Got: {name}{schema}")
        operator.passed_through = Tag.inplace in self._tags or Tag.out in self._tags
        operator.initial, operator.init_name = fn, getattr(fn, "__name__", name)
        OPERATORS[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Within the context, use the kernel of a device type, or the default kernel instead of it.

        >>> import retrograd as torch
        >>> @torch.library.custom_op("doc::one", mutates_args=())
        ... def one(x: torch.Tensor) -> torch.Tensor:
        ...     return x + 1
        >>> fast = one.register_kernel("cpu", lambda x: x + 2)
        >>> with one.set_kernel_enabled("cpu", False):
        ...     one(torch.zeros(1))
        tensor([1.])
        >>> one(torch.zeros(1))
        tensor([2.])
        """
        disabled, action = self._opoverload.disabled, "enable" if enabled else "disable"
        before = device_type in disabled
        if device_type not in self._opoverload.kernels:
            _log.warning("Attempted to %s kernel for %s but no kernel was registered for this device type.", action,
                         device_type)
        if before is not enabled:
            _log.warning("Attempted to %s kernel for %s but it was already %sd.", action, device_type, action)
        _set(disabled, device_type, not enabled)
        try:
            yield
        finally:
            _set(disabled, device_type, before)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None,
                        /) -> Any:
        """Use another function on a device type. Without `fn`, returns a decorator. Kernels of the CPU are called.

        Raises RuntimeError for a name that is no device type.
        """
        def register(given: Callable[..., Any]) -> Callable[..., Any]:
            types = [device_types] if device_types is None or isinstance(device_types, str) else device_types
            for each in types:
                self._opoverload.kernels[None if each is None else device(each).type] = given
            return given

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Set the function that makes results for tensors of the device `meta`, which have no numbers."""
        self._opoverload.fake = fn
        return fn

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """Set the function that modes of a class, or wrappers of a class, call in place of their `__torch_dispatch__`.

        The function gets the mode or the class, and then what `__torch_dispatch__` gets. Without `fn`, returns a
        decorator.
        """
        def register(given: Callable[..., Any]) -> Callable[..., Any]:
            self._opoverload.dispatches[torch_dispatch_class] = given
            return given

        return register if fn is None else register(fn)

    def register_effect(self, effect: Any) -> None:
        """Note a side effect, which only matters to a compiler."""

    def register_autograd(self, backward: Callable[..., Any], /, *,
                          setup_context: Callable[..., Any] | None = None) -> None:
        """Set the function that gives the gradients, and the function that saves values for it.

        `backward(ctx, *grads)` returns a gradient, or None, for each argument, and a list for a list of tensors.
        `setup_context(ctx, inputs, output)` is called after the operator, with all inputs. If the operator has
        keyword-only arguments, the function also gets the dictionary `keyword_only_inputs`.

        >>> import retrograd as torch
        >>> @torch.library.custom_op("doc::square", mutates_args=())
        ... def square(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.from_numpy(x.numpy() ** 2)
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> square.register_autograd(lambda ctx, g: 2 * g * ctx.saved_tensors[0], setup_context=setup_context)
        >>> torch.func.hessian(lambda x: square(x).sum())(torch.ones(2))
        tensor([[2., 0.],
                [0., 2.]])

        Raises RuntimeError for an operator that writes over its arguments.
        """
        operator = self._opoverload
        if Tag.out in self._tags:
            raise RuntimeError(f"Cannot register autograd formula for operator tagged with torch.Tag.out: {self!r}. "
                               "Out variants do not support autograd.")
        if not operator.is_functional:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self!r} with schema "
                               f"{operator._schema}. Please create a functional operator and register an autograd "
                               "formula for that.")
        operator.backward, operator.setup = backward, setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Set the rule for batches. Without a rule, the operator is called for one sample after another.

        `func(info, in_dims, *args, **kwargs)` gets whole tensors, and for each argument the dim of the batch, or None.
        `info.batch_size` is the number of samples, and `info.randomness` the option of `vmap`. The rule returns a tuple
        of the output and its dims, which stand like the output. Without `func`, returns a decorator.

        >>> import retrograd as torch
        >>> @torch.library.custom_op("doc::cube", mutates_args=())
        ... def cube(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.from_numpy(x.numpy() ** 3)
        >>> cube.register_vmap(lambda info, in_dims, x: (cube(x), in_dims[0]))
        >>> torch.vmap(cube)(torch.tensor([[1.], [2.]]))
        tensor([[1.],
                [8.]])
        """
        def register(given: Callable[..., Any]) -> None:
            self._opoverload.batches = given

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """In regions of `autocast`, call the operator with tensors of floating point in the dtype `cast_inputs`."""
        self._opoverload.casts[device(device_type).type] = cast_inputs


def _set(names: set[str], name: str, inside: bool) -> None:
    if inside:
        names.add(name)
    else:
        names.discard(name)


def custom_op(name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str],
              device_types: str | Sequence[str] | None = None, schema: str | None = None, tags: Any = None) -> Any:
    """Make an operator of a function. The name is "namespace::name", and each parameter has an annotation.

    The function gets tensors without recording, and may use NumPy. It may write over the arguments in `mutates_args`
    alone; "unknown" stands for all tensors. With `device_types`, the function is the kernel of these devices only.
    `schema` is used instead of the annotations. `tags` may be `torch.Tag.inplace` or `torch.Tag.out` for an operator
    that returns what it has written. Without `fn`, returns a decorator. Programs also find the operator as
    `torch.ops.namespace.name`.

    >>> import retrograd as torch
    >>> @torch.library.custom_op("doc::double", mutates_args=())
    ... def double(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 2
    >>> double.register_autograd(lambda ctx, grad: grad * 2)
    >>> double(torch.ones(1, requires_grad=True))
    tensor([2.], grad_fn=<GeneratedBackwardFor_doc_double_defaultBackward>)
    >>> torch.func.jvp(torch.ops.doc.double, (torch.ones(1),), (torch.ones(1),))
    (tensor([2.]), tensor([2.]))

    Raises ValueError for a function without annotations, and for a schema that contradicts `mutates_args`.
    """
    def make(given: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(given, mutates_args=mutates_args) if schema is None else schema
        space, opname = name.split("::")
        made = CustomOpDef(space, opname, text, given, tags)
        written = set(made._opoverload._schema.written)
        if schema is not None and written != set(mutates_args):
            raise ValueError(f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}"
                             f". The schema suggests that the op mutates {written or set()}which is different from "
                             "what was provided to us in `mutates_args`. Please make these consistent.")
        made.register_kernel(device_types)(given)
        return made

    return make if fn is None else make(fn)
