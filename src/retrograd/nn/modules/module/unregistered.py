"""What a module does not know of: modules and parameters in its lists, tuples and dictionaries.

`parameters()`, `state_dict()` and `to()` leave them out without a word. Errors that follow from this name the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...parameter import Parameter
from .members import Members

__all__ = ["about_unregistered", "place_in_container"]

_KINDS = {"list": "List", "tuple": "List", "dict": "Dict"}


def about_unregistered(module: Any) -> dict[str, str]:
    """The facts about the first container of a model that hides modules or parameters; none if there is none."""
    for owner in module.modules():
        for name, container, hidden in _hiding(owner):
            kind, found = "Module" if isinstance(hidden[0], Members) else "Parameter", type(container).__name__
            owned = type(owner).__name__
            return {"because": f"{owned}.{name} is a {found}, so {owned} does not know the {len(hidden)} "
                               f"{kind.lower()}{'' if len(hidden) == 1 else 's'} in it",
                    "instead": f"self.{name} = torch.nn.{kind}{_KINDS[found]}(…)"}
    return {}


def place_in_container(owner: Any, module: Any) -> str:
    """'layers[1]' for a module that stands in such a container of another; '' if it does not."""
    for name, container, hidden in _hiding(owner):
        if any([each is module for each in hidden]):
            keys = container if isinstance(container, dict) else range(len(container))
            return next(f"{name}[{key!r}]" for key in keys if container[key] is module)
    return ""


def _hiding(owner: Any) -> Iterator[tuple[str, Any, list[Any]]]:
    """The name and the value of each container of one module that hides something, and what it hides."""
    own = vars(owner)
    known = {id(member) for kind in ("_parameters", "_modules") for member in own.get(kind, {}).values()}
    for name, value in own.items():
        if type(value).__name__ in _KINDS and not name.startswith("_"):
            inside = value.values() if isinstance(value, dict) else value
            hidden = [each for each in inside if isinstance(each, (Members, Parameter)) and id(each) not in known]
            if hidden:
                yield name, value, hidden
