"""torch.distributed.checkpoint.stateful: objects that give a checkpoint their states, and take them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ...foundations.names import missing

__all__ = ["Stateful"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


@runtime_checkable
class Stateful(Protocol):
    """An object whose state `save` writes and `load` reads. Modules and optimizers are such objects."""

    def state_dict(self) -> dict[str, Any]:
        """The state of the object."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        ...
