"""What surrounds a call: the modes of the thread and of the process, and random numbers of other libraries."""

from __future__ import annotations

import sys
from typing import Any

from ...amp import switches
from ...foundations.devices import Chosen
from ...foundations.dtypes import _Default
from ...foundations.launching import Everyone
from ...foundations.modes import local
from ...nn.modules import module
from ...optim import optimizer
from ...tensors.face import settings
from ...tensors.state.dispatch import DISPATCH

# Each mode: how the user calls it, and how Python reads it.
MODES = {
    "grad mode": "thread.grad",
    "grad mode inside of inference mode": "thread.enabled",
    "inference mode": "thread.inference",
    "a level of torch.func or of forward mode": "thread.levels",
    "anomaly detection": "thread.anomalies",
    "a mode that takes over calls, or autocast": "dispatch.plain",
    "the default dtype": "default.floating",
    "the default device": "chosen.device",
    "torch.use_deterministic_algorithms": "settings.deterministic",
    "the group of all processes": "everyone.group",
}
HOOKS_EVERYWHERE = " or ".join([
    "modules._global_forward_pre_hooks", "modules._global_forward_hooks", "modules._global_backward_pre_hooks",
    "modules._global_backward_hooks", "optimizers._global_optimizer_pre_hooks",
    "optimizers._global_optimizer_post_hooks"])
# What reads the modes, by the names in `MODES`.
READERS: dict[str, Any] = {"local": local, "dispatch": DISPATCH, "default": _Default, "chosen": Chosen,
                           "settings": settings._Chosen, "everyone": Everyone, "modules": module,
                           "optimizers": optimizer}


_READ = {words: compile(source, "<mode>", "eval") for words, source in {**MODES, "hooks": HOOKS_EVERYWHERE}.items()}


def modes() -> dict[str, Any]:
    """The modes that are in effect, by the user's name."""
    scope = {**READERS, "thread": local.thread}
    found = {words: eval(code, scope) for words, code in _READ.items()}
    return {**found, "autocast": autocast(), "hooks": bool(found["hooks"])}


def autocast() -> tuple[Any, ...]:
    """What autocast is set to: the devices on which it is on, all dtypes, and whether it keeps casts."""
    state = switches._local.state
    return tuple(sorted(state.enabled)), tuple(sorted(state.dtypes.items(), key=str)), state.caching


def outside_random() -> tuple[Any, ...]:
    """The states of Python's and of NumPy's own random numbers. A program that draws from them cannot be replayed.

    A state is None if nobody has imported the module, or if another thread is about to.
    """
    pythons = getattr(sys.modules.get("random"), "getstate", None)
    numpys = getattr(sys.modules.get("numpy.random"), "get_state", None)
    own = None if pythons is None else pythons()
    if numpys is None:
        return own, None
    name, keys, *rest = numpys()
    return own, (name, keys.tobytes(), *rest)
