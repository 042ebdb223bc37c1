"""torch.autograd.Function: an operation whose derivative the user writes.

This module has the base class and `apply`. After a call, `context` holds what users see and `function_node` what the
graph holds. `function_outputs` prepares the outputs of `forward`.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ..foundations.errors import noted, warn
from ..foundations.modes import local
from ..foundations.names import missing, reached
from ..graph.node import ENGINE, OtherNode, Output
from ..tensors.face.interop import detach
from ..tensors.state.base import TensorBase, edge_of, moves, with_edge
from .context import BackwardCFunction, FunctionCtx, _FunctionBase, _HookMixin
from .function_node import FunctionNode
from .function_outputs import finished
from .grad_mode import no_grad

if TYPE_CHECKING:
    from ..graph.engine import Pass

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_IN_TRANSFORMS = ("In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
                  "must override the setup_context staticmethod. For more details, please see "
                  "https://pytorch.org/docs/main/notes/extending.func.html")
_new = object.__new__
_next_id = itertools.count().__next__


_ContextMethodMixin = FunctionCtx                       # the name that old programs import


class FunctionMeta(type):
    """Gives each Function a class for its contexts, named as in PyTorch."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {
            "_forward_cls": cls, "_autograd_function_id": _next_id(), "__module__": "torch.autograd.function"})
        super().__init__(name, bases, attrs)


class Function(_FunctionBase, FunctionCtx, _HookMixin, metaclass=FunctionMeta):
    """Subclass it with static `forward` and `backward`; call it through `apply`.

    `forward(ctx, *args)` computes with recording off. Instead of it there may be `forward(*args)` and
    `setup_context(ctx, inputs, output)`. `backward(ctx, *grads)` gets the cotangent of each output, and returns one
    gradient for each argument of forward, or None for an argument that needs no gradient.

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

    _backward_cls: ClassVar[type[BackwardCFunction]]
    generate_vmap_rule = False
    # Whether tangents are computed from `backward`, by transposition, and not by `jvp`.
    _transposes = False
    _transformable = False                             # inside of transforms, though `forward` takes a context
    # Whether reading `saved_tensors` releases the saved tensors, so that they can be read only once.
    clear_saved_tensors_on_access = False
    # Whether `backward` gets one list of gradients, from which it may remove them as it goes.
    boxed_grads_call = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all "
             "static, so you should invoke them on the class itself. Instantiating an autograd "
             "function will raise an error in a future version of PyTorch.", DeprecationWarning)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise noted(
            RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style "
                         "autograd function with static forward method. (Example: "
                         "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"),
            "functions#legacy-function", instead=f"call it as {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. To be overridden."""
        raise noted(
            NotImplementedError("You must implement the forward function for custom autograd.Function."),
            "functions#no-forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill the context if `forward` takes no context. To be overridden."""
        raise noted(NotImplementedError("setup_context is not implemented."), "functions#no-setup-context")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs. To be overridden."""
        raise noted(
            NotImplementedError("You must implement either the backward or vjp method for your custom "
                                "autograd.Function to use it with backward mode AD."), "functions#no-backward")

    vjp = backward

    @classmethod
    def _backward_or_vjp(cls) -> Callable[..., Any]:
        """The derivative, under whichever of its two names the user wrote it."""
        if cls.backward is Function.backward:
            return cls.vjp
        if cls.vjp is not Function.vjp:
            raise noted(
                RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
                             "only implement one of them."), "functions#backward-and-vjp")
        return cls.backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs from those of the inputs. To be overridden."""
        raise noted(
            NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                "forward mode AD."), "functions#no-jvp")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute the outputs for a batch of inputs. To be overridden."""
        raise noted(
            NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod "
                                "or set generate_vmap_rule=True."), "functions#no-vmap")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function on `args`. Record it if grad mode is on and one of the arguments requires grad."""
        setup = cls.setup_context is not Function.setup_context
        if kwargs or setup:
            args = _positional(cls.forward, args, kwargs, setup)
        thread = local.thread
        if thread.functions and not (setup or cls._transformable):
            raise noted(RuntimeError(_IN_TRANSFORMS), "functions#forward-with-context-in-a-transform")
        if thread.levels and any([isinstance(arg, TensorBase) and moves(arg) for arg in args]):
            return reached("autograd.function_tangents").called(cls, args)
        return cls._called(args)[0]

    @classmethod
    def _called(cls, args: tuple[Any, ...], marks: dict[str, Any] | None = None) -> tuple[Any, BackwardCFunction]:
        """The result for arguments by position, and the context.

        If `marks` is given, what the context holds then is added to it, and the caller tells the watchers of the node.
        """
        thread, setup = local.thread, cls.setup_context is not Function.setup_context
        observer = thread.observer
        event = None if observer is None else observer.enter(cls.__name__, observer.shapes_of(args))
        grad = thread.grad
        kind = cls._backward_cls
        node = FunctionNode(kind, args)
        recording = grad and True in node.needs_input_grad
        if not recording:
            node.edges = ()
        context = _new(kind)
        context._node = node
        node.attributes = context.__dict__
        node.context = weakref.ref(context)
        thread.grad = False
        try:
            if setup:
                output = cls.forward(*args) if not thread.levels or cls.vmap is Function.vmap else reached(
                    "autograd.function_batches").forward(cls, args)
                cls.setup_context(context, args, output)
            else:
                output = cls.forward(context, *args)
        finally:
            thread.grad = grad
            if event is not None:
                thread.observer.leave(event)
        if marks is not None:
            marks.update(context.__dict__)
        outputs = finished(node, args, output if isinstance(output, tuple) else (output,), recording, setup)
        if recording and thread.watchers and marks is None:
            thread.tell(node, outputs, args)
        return tuple(outputs) if isinstance(output, tuple) else outputs[0], context


def _positional(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                setup: bool) -> tuple[Any, ...]:
    """The arguments by position, with the defaults of `forward` if `setup_context` gets them."""
    signature = inspect.signature(forward)
    if setup:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        kwargs = bound.kwargs
    known = [name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY]
    for name in kwargs:
        if name not in known:
            raise noted(
                TypeError(f"forward() got an unexpected keyword argument '{name}'"), "functions#arguments-of-forward",
                because="the arguments of forward are positional")
    return bound.args if setup else signature.bind(None, *args, **kwargs).args[1:]


class Error(OtherNode):
    """The node of a once-differentiable backward's results. It refuses a second derivative."""

    __slots__ = ("outputs",)
    namespace = ENGINE

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        raise noted(
            RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable"),
            "functions#once-differentiable")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `backward` that must not be differentiated itself. Differentiating it raises RuntimeError."""

    @functools.wraps(fn)
    def once(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args, **kwargs)
        if not local.thread.grad or not any(isinstance(a, TensorBase) and edge_of(a) is not None for a in args):
            return outputs
        sealed = _sealed(outputs if isinstance(outputs, tuple) else (outputs,))
        return sealed if len(sealed) > 1 else sealed[0]

    return once


def _sealed(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Aliases of the tensors, with a node that raises an error when it runs."""
    leaves: list[Any] = [None if o is None else detach(o) for o in outputs]
    for leaf in leaves:
        if leaf is not None:
            leaf.requires_grad = True
    arrays = [None if leaf is None else leaf._array for leaf in leaves]
    node = Error(tuple([None if leaf is None else edge_of(leaf) for leaf in leaves]),
                 [None if a is None else a.shape for a in arrays], [None if a is None else a.dtype for a in arrays])
    node.outputs = len(outputs)
    return tuple([None if a is None else with_edge(a, Output(node, i)) for i, a in enumerate(arrays)])


class InplaceFunction(Function):
    """The old base class of Functions that write in place. Derive from `Function` instead."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
