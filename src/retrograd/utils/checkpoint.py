"""torch.utils.checkpoint: less memory for more time. Values inside a function are not kept, but computed again.

There are two kinds of checkpoints. The recommended kind (`use_reentrant=False`) records as usual, and computes the
saved values again when they are needed: see `recomputation`. The other kind runs the function without recording, and
records it in a backward pass of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..amp import switches
from ..amp.autocast_mode import autocast
from ..autograd.backward import _is_checkpoint_valid, backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, no_grad
from ..foundations.errors import noted, warn
from ..foundations.modes import kept_switches, local, replaced
from ..foundations.names import missing
from ..nn.modules.container import Sequential
from ..tensors.arguments.generator import get_rng_state, set_rng_state, stream_restored
from ..tensors.state.base import as_leaf
from ..tensors.tensor import Tensor
from .recomputation import CheckpointError, Segment, watching
from .selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    DefaultDeviceType,
    GraphExecGroup,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
    get_device_states,
    set_device_states,
)

__all__ = ["CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup",
           "SAC_IGNORED_OPS", "SelectiveCheckpointContext", "check_backward_validity", "checkpoint",
           "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable",
           "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
           "set_checkpoint_early_stop", "set_device_states"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Contexts = tuple[contextlib.AbstractContextManager[Any], contextlib.AbstractContextManager[Any]]

_PASS_IT = ("{}: the use_reentrant parameter should be passed explicitly. {} use_reentrant=False is recommended, but "
            "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
            "more details on the differences between the two variants.")
_SUPPRESSED = ("torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
               "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
               "failed forward.")
_CHECKS = ("default", "none")


class _Settings:
    """The values of `set_checkpoint_early_stop` and `set_checkpoint_debug_enabled` for all threads, or None."""

    early_stop: bool | None = None
    debug: bool | None = None


def set_checkpoint_early_stop(enable: bool) -> contextlib.AbstractContextManager[None]:
    """Inside the block, new checkpoints stop their recomputation early if `enable`, and otherwise run it to the end."""
    return replaced(_Settings, "early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> contextlib.AbstractContextManager[None]:
    """Inside the block, new checkpoints use `debug=enabled`. None leaves the choice to each checkpoint."""
    return replaced(_Settings, "debug", enabled)


def noop_context_fn() -> Contexts:
    """Two context managers that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same values as leaves with the same `requires_grad`. Raises RuntimeError unless given a tuple."""
    if not isinstance(inputs, tuple):
        raise noted(
            RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"),
            "checkpoints#tuple-of-tensors")
    return tuple([as_leaf(value.detach(), value.requires_grad) if isinstance(value, Tensor) else value
                  for value in inputs])


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires grad."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """The reentrant kind of checkpoint: `CheckpointFunction.apply(function, preserve_rng_state, *args)`."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording. Keep its arguments and the state of the random generator."""
        check_backward_validity(args)
        ctx.run_function, ctx.random_state = run_function, get_rng_state() if preserve_rng_state else None
        ctx.autocast = _present_autocast()
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again with recording, and go backward through it. Raises in a pass to chosen inputs."""
        if not _is_checkpoint_valid():
            raise noted(
                RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                             "passing an `inputs` parameter to .backward(). To resolve this error, you can either "
                             "set use_reentrant=False, or call .backward() without passing the `inputs` argument."),
                "checkpoints#reentrant-with-grad")
        args = [*ctx.others]
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = tensor
        with _random_numbers_from(ctx.random_state):
            leaves = detach_variable(tuple(args))
            with enable_grad(), ctx.autocast():
                outputs = ctx.run_function(*leaves)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [(output, g) for output, g in zip(outputs, grads)
                 if isinstance(output, Tensor) and output.requires_grad]
        if not pairs:
            raise noted(
                RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary"),
                "checkpoints#no-output-requires-grad")
        backward([output for output, _ in pairs], [g for _, g in pairs])
        return None, None, *[leaf.grad if isinstance(leaf, Tensor) else None for leaf in leaves]


def _present_autocast() -> Callable[[], autocast]:
    """What makes a context in which autocast is as it is now."""
    return partial(autocast, "cpu", switches.get_autocast_dtype("cpu"), switches.is_autocast_enabled("cpu"),
                   switches.is_autocast_cache_enabled())


@contextlib.contextmanager
def _random_numbers_from(state: Tensor | None) -> Generator[None]:
    """Draw random numbers from this state of the default generator, and restore the generator afterwards."""
    with stream_restored(enabled=state is not None):
        if state is not None:
            set_rng_state(state)
        yield


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
               context_fn: Callable[[], Contexts] = noop_context_fn, determinism_check: str = "default",
               debug: bool = False, early_stop: bool = True, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """Call `function(*args, **kwargs)` and keep only its arguments. Backward runs the function again.

    The random numbers are the same in both runs, unless `preserve_rng_state` is False. Autocast is the same in both
    runs. `context_fn()` returns two context managers, one for each run. A recomputation stops once it has all needed
    values, unless `early_stop` is False. With `use_reentrant`, the first run is not recorded, in a
    `CheckpointFunction`. Then `autograd.grad` and keyword arguments are not supported, and only tensors that are
    arguments themselves get gradients.

    The function must save values of the same number, shapes and dtypes in both runs. Otherwise backward raises
    CheckpointError, which names the first difference. `determinism_check="none"` compares only the number. With `debug`
    the message lists all operations. Raises ValueError for options that exclude each other.

    >>> import retrograd as torch
    >>> from retrograd.utils.checkpoint import checkpoint
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False)
    >>> y.sum().backward(); x.grad
    tensor([  5.4366, 218.3926])
    """
    if use_reentrant is None:
        warn(_PASS_IT.format(
            "torch.utils.checkpoint", "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception."))
        use_reentrant = True
    if use_reentrant:
        _refuse(kwargs)
        if context_fn is not noop_context_fn or debug is not False:
            raise noted(
                ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False."),
                "checkpoints#options-without-reentrant")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    debug = debug if _Settings.debug is None else _Settings.debug
    if debug and context_fn is not noop_context_fn:
        raise noted(
            ValueError("debug=True is incompatible with non-default context_fn"), "checkpoints#debug-with-context-fn")
    if determinism_check not in _CHECKS:
        raise noted(
            ValueError(f"determinism_check should be one of {[*_CHECKS]}, but got {determinism_check}"),
            "checkpoints#determinism-check")
    forward_context, recompute_context = context_fn()
    if not local.thread.grad:
        return function(*args, **kwargs)
    state = get_rng_state() if preserve_rng_state else None
    segment = Segment(partial(_again, function, kwargs, state, _present_autocast(), recompute_context), args,
                      early_stop=early_stop if _Settings.early_stop is None else _Settings.early_stop,
                      compare=determinism_check == "default", debug=bool(debug))
    with kept_switches(), watching(segment), forward_context:
        result = function(*args, **kwargs)
        segment.complete = True
    if not segment.complete:
        raise noted(RuntimeError(_SUPPRESSED), "checkpoints#suppressed-exception")
    return result


def _again(function: Callable[..., Any], kwargs: dict[str, Any], state: Any, as_before: Callable[[], autocast],
           context: contextlib.AbstractContextManager[Any], *args: Any) -> None:
    """Run a checkpointed function again."""
    with switches.kept(), _random_numbers_from(state), as_before(), context:
        function(*args, **kwargs)


def _refuse(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise noted(ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}"), "checkpoints#unexpected-arguments")


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, *,
                          preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """Run a `Sequential`, or a list of functions, in `segments` segments. All but the last are checkpoints.

    >>> import retrograd as torch
    >>> from retrograd.utils.checkpoint import checkpoint_sequential
    >>> x = torch.tensor(1., requires_grad=True)
    >>> checkpoint_sequential([torch.exp] * 4, 2, x, use_reentrant=False)
    tensor(inf, grad_fn=<ExpBackward0>)
    """
    if use_reentrant is None:
        warn(_PASS_IT.format(
            "torch.utils.checkpoint.checkpoint_sequential", "In version 2.9 we will raise an exception if "
            "use_reentrant is not passed."))
        use_reentrant = True
    _refuse(kwargs)
    functions = [*(functions.children() if isinstance(functions, Sequential) else functions)]
    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(partial(_in_turn, functions[start:end]), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve_rng_state)
    return _in_turn(functions[end:], input)


def _in_turn(functions: Sequence[Callable[[Any], Any]], input: Any) -> Any:
    for function in functions:
        input = function(input)
    return input
