"""Arguments in an order that PyTorch gave up and still takes: `a.add_(2, b)` for `a.add_(b, alpha=2)`.

The functions here scale an operand by numbers, which stand behind the tensors today. Formerly each number stood before
the tensor that it scales. The first call in a former order warns, and no other call of the process does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...foundations.errors import warn_once
from .checking import FORMER_ORDERS, misfit
from .schemas import Schema, of_methods, schemas


def reordered(texts: tuple[str, ...], args: tuple[Any, ...],
              kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments in today's order, if they fit a former order of the function with these schemas; else None."""
    if not texts or texts[0].partition("(")[0].removesuffix("_") not in FORMER_ORDERS:
        return None
    today = schemas(texts)
    for former in _former_orders(texts[0]):
        way = schemas((former,))[0]
        if misfit(way, way.name, args, kwargs) is None:
            _warn(former, today, texts[0])
            given = {**dict(zip([p.name for p in way.parameters], args, strict=False)), **kwargs}
            first = tuple([given.pop(p.name) for p in today[0].parameters if not p.by_name])
            return first, given
    return None


def _former_orders(text: str) -> Iterator[str]:
    """The schemas with the former orders: the order of functions first, and then that of methods, if they differ."""
    name, _, rest = text.partition("(")
    tensors, _, named = rest.partition(", *, ")
    first, *others = tensors.split(", ")
    numbers = [part.partition("=")[0] for part in named.rstrip(")").split(", ") if part.startswith("Number ")]
    ending = f"{', '.join(others)}{', *, Tensor out=None' if 'Tensor out' in named else ''})"
    if len(numbers) == 1:
        yield f"{name}({first}, {numbers[0]}, {ending}"
        return
    beta, alpha = numbers
    yield f"{name}({beta}, {first}, {alpha}, {ending}"
    yield f"{name}({beta}, {first}, {ending}"
    yield f"{name}({first}, {beta}, {alpha}, {', '.join(others)})"
    yield f"{name}({first}, {beta}, {', '.join(others)})"


def _warn(former: str, today: tuple[Schema, ...], text: str) -> None:
    """Warn as PyTorch does. The message of a method does not show the tensor itself."""
    name = today[0].name
    if former.startswith((f"{name}(Tensor input, Number beta", f"{name[:-1]}_(Tensor")):
        (former,), today = of_methods((former,)), schemas(of_methods((text,)))
    instead = "".join(f"\n\t{name}{way.text}" for way in today)
    warn_once(f"This overload of {name} is deprecated:\n\t{name}{schemas((former,))[0].text}\nConsider using one of "
              f"the following signatures instead:{instead}", "This overload is deprecated")
