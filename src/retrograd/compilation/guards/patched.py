"""What a guard asks of functions and methods of libraries: that the program has put nothing in their places."""

from __future__ import annotations

from ...tensors.state.dispatch import DISPATCH
from ..program.constants import MISSING
from ..reach.items import OBJECT, State
from ..reach.patches import classes, places
from .differences import Check
from .lines import Lines, namespace_of


def write(writer: Lines, state: State) -> None:
    """Write the lines of a guard that ask whether all places hold what they held.

    Of a class, the guard asks how many attributes it has, since it inherits most of its methods, and an assignment to
    one of these adds an attribute.
    """
    dicts: dict[int, str] = {}
    for place in places(state.items, state.mentioned):
        known = dicts.setdefault(id(place.holder), f"p{len(dicts)}")
        writer.constant(known, namespace_of(place.holder))
        value = writer.constant(f"{known}_{place.name}", place.value)
        check = Check(place.words, "same", OBJECT, place.value)
        if place.value is MISSING:
            writer.test(f"{place.name!r} in {known}", f"{known}[{place.name!r}]", check)
        else:
            writer.test(f"{known}[{place.name!r}] is not {value}", f"{known}[{place.name!r}]", check)
    for number, cls in enumerate([DISPATCH.tensor, *classes(state.items)]):
        known = writer.constant(f"w{number}", namespace_of(cls))
        writer.test(f"len({known}) != {len(vars(cls))}", "None", Check(cls.__name__, "attributes", OBJECT, cls))
