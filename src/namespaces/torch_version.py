"""torch.torch_version: the text of a version that can be compared with versions, with texts and with tuples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from . import version

__all__ = ["TorchVersion"]

# The versions of Python's packages (PEP 440): epoch, release, pre, its number, post, post, its number, dev, local.
_VERSION = (r"\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|rc|c)[-_.]?(\d*))?"
            r"(?:(-\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?"
            r"(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*")
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


class TorchVersion(str):
    """The text of a version. `<`, `<=`, `==`, `>=` and `>` compare it as a version, not letter by letter.

    The other side may be a text, a version of the package `packaging`, or a tuple such as `(2, 1)`. Two texts of which
    one is no version are compared as texts.

    Example:

        >>> retrograd.__version__ >= (1, 8), retrograd.__version__ > "1.10"
        (True, True)
    """

    __slots__ = ()

    def _compared(self, other: Any, holds: Callable[[Any, Any], bool], name: str) -> Any:
        text = _text(other)
        if text is None:
            return NotImplemented
        mine, its = _key(self), _key(text)
        if mine is None or its is None:
            return getattr(str, name)(self, other)
        return holds(mine, its)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a < b, "__lt__")  # type: ignore[no-any-return]

    def __le__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a <= b, "__le__")  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        return self._compared(other, lambda a, b: a == b, "__eq__")  # type: ignore[no-any-return]

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a >= b, "__ge__")  # type: ignore[no-any-return]

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, lambda a, b: a > b, "__gt__")  # type: ignore[no-any-return]

    __hash__ = str.__hash__


def _text(other: Any) -> str | None:
    """The text of what a version is compared with; None if it is none of the kinds that can be compared."""
    if isinstance(other, str):
        return other
    if type(other).__name__ == "Version":
        return str(other)
    return ".".join(map(str, other)) if isinstance(other, Iterable) else None


def _key(text: str) -> tuple[Any, ...] | None:
    """A tuple that orders versions; None if the text is no version."""
    match = re.fullmatch(_VERSION, text, re.IGNORECASE)
    if match is None:
        return None
    epoch, release, stage, stage_number, minus, post, post_number, dev, dev_number, local = match.groups()
    numbers = [int(part) for part in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    later = minus is not None or post is not None
    if stage is not None:
        before: tuple[Any, ...] = (0, _STAGES.get(stage.lower(), stage.lower()), int(stage_number or 0))
    else:
        before = (-1,) if dev is not None and not later else (1,)
    return (int(epoch or 0), tuple(numbers), before, abs(int(minus or post_number or 0)) if later else -1,
            (0, int(dev_number or 0)) if dev else (1,), _local_key(local))


def _local_key(local: str | None) -> tuple[tuple[Any, ...], ...]:
    """The order of the parts after `+`: numbers come after words, and nothing comes first."""
    parts = re.split(r"[-_.]", local.lower()) if local else []
    return tuple([(1, int(part)) if part.isdigit() else (0, part) for part in parts])


__version__ = TorchVersion(version.__version__)
