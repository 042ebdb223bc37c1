"""Hooks on saved tensors, per thread: `saved_tensors_hooks`, `save_on_cpu`, `disable_saved_tensors_hooks`.

`tensors.recording.saving` packs, keeps and unpacks a saved value. `tensors.recording.saved_values` reads one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

from ..foundations.errors import noted
from ..foundations.modes import local, replaced
from ..tensors.recording.saving import Packer, in_force
from ..tensors.tensor import Tensor


class saved_tensors_hooks:
    """Send each tensor that an operation saves through `pack_hook`, and back through `unpack_hook`.

    When a value is saved, `pack_hook(tensor)` is called with recording off, and its result is kept instead of the
    tensor. Whenever the value is needed, `unpack_hook(packed)` is called. It must return a tensor of the same shape,
    dtype and values. Only the innermost pair of hooks is in force. Exceptions of the hooks reach the caller. Raises
    RuntimeError if a pack hook writes to its input in place, and TypeError if an unpack hook returns no tensor.

    >>> import retrograd as torch
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
    ...     y = x * x
    >>> y.sum().backward(); x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if not (callable(self.pack_hook) and callable(self.unpack_hook)):
            raise noted(
                TypeError(f"saved_tensors_hooks(): both hooks must be callable, but got {self.pack_hook!r} "
                          f"and {self.unpack_hook!r}"), "hooks#saved-tensors-hooks-callable")
        if local.thread.hooks_refused is not None:
            raise RuntimeError(local.thread.hooks_refused)
        outer = in_force()
        _replace(outer, self._packer(outer))

    def __exit__(self, *error: object) -> None:
        packer = in_force()
        _replace(packer, None if packer is None else packer.outer)

    def _packer(self, outer: Packer | None) -> Packer:
        return Packer(self.pack_hook, self.unpack_hook, outer)


def _replace(old: Packer | None, new: Packer | None) -> None:
    thread = local.thread
    thread.watchers = (*[w for w in thread.watchers if w is not old], *(() if new is None else (new,)))


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU. All tensors are there already, so none is copied.

    With `pin_memory` they are copied, as PyTorch does. `device_type` names the accelerator whose memory PyTorch would
    pin.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> Any:
            return tensor.detach().clone() if pin_memory else tensor

        super().__init__(pack, lambda packed: packed)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None]:
    """Let every use of `saved_tensors_hooks` raise RuntimeError with this message. Also a decorator.

    If hooks are already in force, the call itself raises the error.
    """
    if in_force() is not None:
        raise RuntimeError(error_message)
    with replaced(local.thread, "hooks_refused", error_message):
        yield
