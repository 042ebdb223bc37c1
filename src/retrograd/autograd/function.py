"""torch.autograd.Function: an operation with a derivative written by the user.

What one call leaves behind, the context and the node, is in `context`; here are the class to derive from, and what
`apply` makes of that which `forward` returns.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import user_site
from ..graph.node import OtherNode
from ..graph.versions import next_number, written
from ..modes import local
from ..tensor.inplace import rebase
from ..tensor.recording import make_view
from ..tensor.state import CUSTOM, State, edge_of, with_edge
from .context import FunctionCtx, FunctionNode, SavedOutput
from .grad_mode import no_grad


class _FunctionMeta(type):
    """Gives each Function the class of its nodes, named as PyTorch names it."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        names = {"__module__": "torch.autograd.function"}
        cls._context_cls = type(f"{name}Backward", (FunctionCtx,), names)
        cls._backward_cls = type(f"{name}Backward", (FunctionNode,), {
            **names, "__slots__": (), "forward_class": cls, "_forward_cls": cls})


class Function(metaclass=_FunctionMeta):
    """Subclass it with static `forward` and `backward`; call it through `apply`.

    `forward(ctx, *args)` computes with recording off; or `forward(*args)` and `setup_context(ctx, inputs, output)`.
    `backward(ctx, *grads)` is given the cotangent of each output and returns one gradient for each argument of
    forward, None for what is no tensor or needs none.

    >>> import retrograd as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x * x
    >>> x = torch.tensor(2., requires_grad=True)
    >>> Cube.apply(x).backward(); x.grad
    tensor(12.)
    """

    _backward_cls: ClassVar[type[FunctionNode]]
    _context_cls: ClassVar[type[FunctionCtx]]
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
                      "should invoke them on the class itself. Instantiating an autograd function will raise an error "
                      "in a future version of PyTorch.", DeprecationWarning, stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static forward method: call it as "
                           f"{type(self).__name__}.apply(...).")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. To be overridden."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill the context, where `forward` takes none. To be overridden."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs. To be overridden."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @classmethod
    def _backward_or_vjp(cls) -> Callable[..., Any]:
        """The one of its two names under which the derivative was written."""
        if cls.backward is Function.backward:
            return cls.vjp
        if cls.vjp is not Function.vjp:
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. They are "
                               "two names for one thing: keep one of them.")
        return cls.backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs from those of the inputs. To be overridden."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute the outputs for a batch of inputs. To be overridden."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap static method "
                                  "or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function on `args` and record it, where grad mode is on and one of them requires grad."""
        if kwargs or cls.setup_context is not Function.setup_context:
            args = _positional(cls, args, kwargs)
        context = cls._context_cls()
        edges = [edge_of(a) if isinstance(a, State) else None for a in args]
        here = local.here
        recording = here.grad and any(edges)
        context.needs_input_grad = tuple([e is not None for e in edges])
        grad, here.grad = here.grad, False
        try:
            if cls.setup_context is Function.setup_context:
                output = cls.forward(context, *args)
            else:
                output = cls.forward(*args)
                cls.setup_context(context, args, output)
        finally:
            here.grad = grad
        node = cls._backward_cls(context)
        tensors = [i for i, a in enumerate(args) if isinstance(a, State)]
        node.edges = tuple([edges[i] for i in tensors])
        places = {i: place for place, i in enumerate(tensors)}
        node.positions = tuple([places.get(i) for i in range(len(args))])
        return _finished(node, args, output, recording)


def _positional(function: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments by position; with the defaults of `forward` where `setup_context` is to see them."""
    with_context = function.setup_context is Function.setup_context
    signature = inspect.signature(function.forward)
    known = [name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    for name in kwargs:
        if name not in known:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'. The arguments of forward are "
                            "positional.")
    bound = signature.bind(*((None,) if with_context else ()), *args, **kwargs)
    if not with_context:
        bound.apply_defaults()
    return bound.args[with_context:]


def _finished(node: FunctionNode, args: tuple[Any, ...], output: Any, recording: bool) -> Any:
    """Wrap what forward returned: give the outputs their edges, and pack what is saved."""
    raw = output if isinstance(output, tuple) else (output,)
    _check_marks(node.context, raw)
    wrapped = _outputs(node, args, raw, recording)
    node.number = next_number()                         # so that what forward wrote, it wrote before
    if recording:
        _pack(node, raw, wrapped)
    else:
        node.edges, node.saved = (), None
    context = node.context
    context._to_save = context._dirty = context._non_differentiable = ()
    return tuple(wrapped) if isinstance(output, tuple) else wrapped[0]


def _outputs(node: FunctionNode, args: tuple[Any, ...], raw: tuple[Any, ...], recording: bool) -> list[Any]:
    inputs = {id(a): a for a in args if isinstance(a, State)}
    dirty = {id(t) for t in node.context._dirty}
    constants = {id(t) for t in node.context._non_differentiable}
    shapes = [o._array.shape if isinstance(o, State) else None for o in raw]
    dtypes = [o._array.dtype if isinstance(o, State) else None for o in raw]
    node.outputs = len(raw)
    node.shape, node.dtype = (shapes[0], dtypes[0]) if len(raw) == 1 else (shapes, dtypes)
    wrapped: list[Any] = []
    for i, out in enumerate(raw):
        if not isinstance(out, State):
            wrapped.append(out)
            continue
        differentiable = recording and id(out) not in constants and out._array.dtype.kind in "fc"
        if not differentiable:
            node.constant_outputs.add(i)
        edge = node.edge_to(i) if differentiable else None
        wrapped.append(_output(out, edge, id(out) in inputs, id(out) in dirty))
    return wrapped


def _output(out: Any, edge: Any, is_input: bool, is_dirty: bool) -> Any:
    """One output with its edge. An input returned as it is becomes a view of itself, unless it was marked dirty."""
    if is_dirty:
        written(out._array, user_site(4))
        if edge is not None:
            if out._meta is not None and out._meta.leaf:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            rebase(out, edge)
        return out
    if is_input:
        view = with_edge(out._array, edge)
        if edge is None:
            return view
        make_view(view, out, _itself, CUSTOM)
        return view
    if edge is not None:
        meta = out._meta
        if meta is not None:
            meta.leaf = False
        out._edge = edge
        if meta is not None and meta.base is not None:
            meta.creation, meta.seen = CUSTOM, next_number()
    return out


def _itself(array: Any) -> Any:
    return array.view() if isinstance(array, np.ndarray) else array.view_as(array)


def _check_marks(context: FunctionCtx, raw: tuple[Any, ...]) -> None:
    """Refuse marks on what is no tensor, and on what was not returned."""
    for i, tensor in enumerate(context._dirty):
        if not isinstance(tensor, State):
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type "
                               f"{type(tensor).__name__}")
        if not any(tensor is out for out in raw):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. "
                               "The inputs that are modified inplace must all be outputs of the Function.")
    for tensor in context._non_differentiable:
        if not isinstance(tensor, State):
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got "
                               f"{type(tensor).__name__}")


def _pack(node: FunctionNode, raw: tuple[Any, ...], wrapped: list[Any]) -> None:
    """Turn what `save_for_backward` was given into what the node may keep."""
    if not node.context._to_save:
        return
    indices = {id(o): i for i, o in enumerate(raw)} | {id(o): i for i, o in enumerate(wrapped)}
    saved: list[Any] = []
    for i, tensor in enumerate(node.context._to_save):
        if tensor is None:
            saved.append(None)
        elif not isinstance(tensor, State):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type "
                            f"{type(tensor).__name__}. Keep other values as attributes of ctx.")
        elif id(tensor) in indices:
            saved.append(SavedOutput(indices[id(tensor)], tensor._array))
        else:
            saved.append(tensor)
    node.saved = tuple(saved)


class Error(OtherNode):
    """Stands behind the result of a once-differentiable backward, to refuse a second derivative."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `backward` that must not be differentiated itself: doing so raises RuntimeError."""

    @functools.wraps(function)
    def once(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            outputs = function(ctx, *grads)
        if not local.here.grad or not any(isinstance(g, State) and edge_of(g) is not None for g in grads):
            return outputs
        sealed = [with_edge(o._array, Error((), o._array.shape, o._array.dtype)) if isinstance(o, State) else o
                  for o in (outputs if isinstance(outputs, tuple) else (outputs,))]
        return tuple(sealed) if isinstance(outputs, tuple) else sealed[0]

    return once
