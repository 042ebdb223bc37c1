"""Entries for dropout. Its random numbers are the same at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import ONE, Entry, Shapes

_CHANNELS: tuple[Shapes, ...] = (((3, 4),), ((2, 3, 2),), ((2, 2, 2, 2),))


def _drawn(name: str, draw: Callable[..., Any], shapes: tuple[Shapes, ...] = ONE, **options: Any) -> Entry:
    def call(t: Any, *inputs: Any) -> Any:
        t.manual_seed(3)
        return draw(t, *[x.contiguous() for x in inputs])       # what is drawn goes by the order in memory

    return Entry(name, call, shapes, **options)


def _both(name: str, shapes: tuple[Shapes, ...] = ONE) -> list[Entry]:
    """torch's own function, and the same in place."""
    return [_drawn(f"torch.{name}", lambda t, x: getattr(t, name)(x, 0.3, True), shapes),
            _drawn(f"torch.{name}_", lambda t, x: getattr(t, name + "_")(x.clone(), 0.4, True), shapes)]


DROPOUT = [
    *_both("dropout"), *_both("alpha_dropout"), *_both("feature_dropout", _CHANNELS),
    *_both("feature_alpha_dropout", _CHANNELS),
    *(_drawn(f"dropout{n}d {rank}", lambda t, x, n=n: getattr(t.nn.functional, f"dropout{n}d")(x, 0.4),
             (((2,) * rank,),)) for n, rank in ((1, 2), (1, 3), (2, 4), (3, 4), (3, 5))),
    _drawn("F.feature_alpha_dropout", lambda t, x: t.nn.functional.feature_alpha_dropout(x, 0.3, True), _CHANNELS),
    _drawn("alpha_dropout all", lambda t, x: t.nn.functional.alpha_dropout(x, 1.0, True)),
    _drawn("native_dropout", lambda t, x: t.native_dropout(x, 0.4, True)[0], ONE[:3]),
    _drawn("native_dropout all", lambda t, x: t.native_dropout(x, 1.0, None)[0], ONE[:3]),
    _drawn("native_dropout off", lambda t, x: t.native_dropout(x, 0.4, False)[0], ONE[:3]),
]
