"""What a guard asks of functions and methods of libraries: that the program has put nothing in their places."""

from __future__ import annotations

import gc
from types import MappingProxyType
from typing import Any

from ...foundations.names import contents
from ...tensors.state.dispatch import DISPATCH
from ..program.constants import MISSING
from ..reach.items import OBJECT, State
from ..reach.patches import classes, places
from .differences import Check
from .lines import Lines


def write(writer: Lines, state: State) -> None:
    """Write the lines of a guard that ask whether all places hold what they held.

    Of a class, the guard asks how many attributes it has, since it inherits most of its methods, and an assignment to
    one of these adds an attribute.
    """
    dicts: dict[int, str] = {}
    for place in places(state.items, state.mentioned):
        known = dicts.setdefault(id(place.holder), f"p{len(dicts)}")
        writer.constant(known, _attributes(place.holder))
        value = writer.constant(f"{known}_{place.name}", place.value)
        check = Check(place.words, "same", OBJECT, place.value)
        if place.value is MISSING:
            writer.test(f"{place.name!r} in {known}", f"{known}[{place.name!r}]", check)
        else:
            writer.test(f"{known}[{place.name!r}] is not {value}", f"{known}[{place.name!r}]", check)
    for number, cls in enumerate([DISPATCH.tensor, *classes(state.items)]):
        known = writer.constant(f"w{number}", _attributes(cls))
        writer.test(f"len({known}) != {len(vars(cls))}", "None", Check(cls.__name__, "attributes", OBJECT, cls))


def _attributes(holder: Any) -> Any:
    """The dict with the attributes of a module or class, to be read only.

    That of a class stands behind a view, which takes a guard five times as long to read as the dict itself.
    """
    shown = contents(holder)
    behind = [part for part in gc.get_referents(shown) if type(part) is dict]
    return behind[0] if type(shown) is MappingProxyType and len(behind) == 1 else shown
