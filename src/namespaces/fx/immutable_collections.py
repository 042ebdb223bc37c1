"""torch.fx.immutable_collections: lists and dictionaries in the arguments of nodes, which nobody changes in place."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["immutable_dict", "immutable_list"]


def _refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise TypeError."""
    kind = type(self).__name__
    raise TypeError(f"{kind!r} object does not support mutation. If you are attempting to modify the kwargs or args of "
                    "a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the node:\n"
                    "    new_args = ...  # copy and mutate args\n    node.args = new_args\n")


class immutable_list(list[Any]):
    """A list that refuses changes."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = _refused
    pop = remove = reverse = sort = _refused

    def __reduce__(self) -> tuple[type[Any], tuple[Any]]:
        return type(self), ([*self],)


class immutable_dict(dict[str, Any]):
    """A dictionary that refuses changes."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[type[Any], tuple[Any]]:
        return type(self), (dict(self),)
