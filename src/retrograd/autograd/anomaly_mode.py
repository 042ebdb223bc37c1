"""torch.autograd.anomaly_mode: where bad numbers come from, and which line of the forward pass caused an error.

The mode holds for the whole process, as in PyTorch. `graph.anomaly` watches the nodes, and `graph.anomaly_report`
writes the reports.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..foundations.errors import noted, warn
from ..foundations.forks import held
from ..foundations.modes import ThreadState, in_all_threads
from ..foundations.names import missing
from ..graph.anomaly import Watch

__all__ = ["detect_anomaly", "set_detect_anomaly"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_switching = threading.RLock()
held(_switching)
_now = (False, True)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _now[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether backward passes look for NaN while anomaly mode is on."""
    return _now[1]


def _set(mode: Any, check_nan: Any) -> None:
    """Switch the mode in all threads. Raises TypeError for an argument that is not a bool."""
    for position, (name, value) in enumerate((("enabled", mode), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise noted(
                TypeError(f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, "
                          f"not {type(value).__name__}"), "anomaly#set-anomaly-enabled-takes-a-bool")
    global _now
    with _switching:
        _now = mode, check_nan
        in_all_threads("anomalies", _arrange)


def _arrange(thread: ThreadState) -> None:
    """Set the switches of one thread as the mode demands."""
    mode, check_nan = _now
    watch = thread.anomalies
    if watch is not None:
        watch.check_nan = check_nan
    if mode and watch is None:
        thread.anomalies = watch = Watch(check_nan)
        thread.watchers = (*thread.watchers, watch.on_node)
        thread.on_bad_numbers(watch.on_bad_numbers)
    elif not mode and watch is not None:
        thread.anomalies = None
        thread.watchers = tuple([watcher for watcher in thread.watchers if watcher != watch.on_node])
        thread.on_bad_numbers(None)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, as a call of `set_detect_anomaly` does."""
    _set(mode, check_nan)


class set_detect_anomaly:
    """Switch anomaly mode on or off: as a call at once, as a context manager until the end of the block.

    While the mode is on, each node notes the line that recorded it. An error in a backward pass then names the line
    that recorded the failing node. With `check_nan`, a gradient with NaN raises RuntimeError. Its notes say how many
    elements are bad, what they were computed from, and where the first bad value of the graph appeared. Raises
    TypeError for an argument that is not a bool.

    >>> import retrograd as torch
    >>> x = torch.tensor([0., 4.], requires_grad=True)
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     try:
    ...         (x.sqrt() * 0).sum().backward()
    ...     except RuntimeError as error:
    ...         print(error, error.__notes__[0], sep="\\n")
    Function 'SqrtBackward0' returned nan values in its 0th output.
      found      the gradient of Sqrt for x has 1 nan among 2 elements, nan at [0], where grad = 0.0, out = 0.0.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = _now
        _set(mode, check_nan)

    def __enter__(self) -> None:
        return

    def __exit__(self, *error: object) -> None:
        _set(self.prev, self.prev_check_nan)


class detect_anomaly(set_detect_anomaly):
    """Anomaly mode for a block; see `set_detect_anomaly`. Warns as PyTorch does, because PyTorch's mode is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev, self.prev_check_nan = _now
        self.check_nan = check_nan
        warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only "
             "be enabled for debugging.", UserWarning)

    def __enter__(self) -> None:
        _set(True, self.check_nan)
