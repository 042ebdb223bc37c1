"""The kinds of containers that a pytree has, and how each kind is taken apart and put together again.

`SUPPORTED_NODES` holds a `NodeDef` for each type. A value of any other type is a leaf.
"""

from __future__ import annotations

import dataclasses
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from ..return_types import NamedResults
from ..tensors.arguments.size import Size

T = TypeVar("T")
PyTree = Any
Context = Any
DumpableContext = Any
FlattenFn = Callable[[Any], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]


# Keys: the steps from a container to one of its children


@dataclasses.dataclass(frozen=True)
class SequenceKey(Generic[T]):
    """The step to the element `idx` of a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The element of this sequence."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey(Generic[T]):
    """The step to the value of `key` in a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The value in this dictionary."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The step to the attribute `name` of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The attribute of this object."""
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]
FlattenWithKeysFn = Callable[[Any], tuple[list[tuple[KeyEntry, Any]], Context]]


# The registry


class NodeDef(NamedTuple):
    """How a type of container is taken apart into children and a context, and put together from them."""

    type: type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class Serialized(NamedTuple):
    """The name of a type in JSON, and how its context becomes data and comes back."""

    type: Any
    name: str | None
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


@dataclasses.dataclass(frozen=True)
class ConstantNode:
    """The context of a container that is a constant and has no children."""

    value: Any


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SERIALIZED: dict[Any, Serialized] = {}
SERIALIZED_TYPES: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()


def register_pytree_node(
        cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, *, serialized_type_name: str | None = None,
        to_dumpable_context: ToDumpableContextFn | None = None,
        from_dumpable_context: FromDumpableContextFn | None = None,
        flatten_with_keys_fn: FlattenWithKeysFn | None = None) -> None:
    """Make a class a container of pytrees.

    `flatten_fn` gives the children of an object and a context, and `unflatten_fn` makes an object from both. The other
    arguments serve `treespec_dumps` and the functions with paths. Raises ValueError for a class that is registered.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda children, _: Pair(*children))
    >>> SUPPORTED_NODES[Pair].flatten_fn(Pair(1, 2))
    ([1, 2], None)
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) ^ (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    SERIALIZED[cls] = Serialized(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)
    if serialized_type_name is not None:
        SERIALIZED_TYPES[serialized_type_name] = cls


def register_dataclass(cls: type[Any], *, field_names: list[str] | None = None,
                       drop_field_names: list[str] | None = None, serialized_type_name: str | None = None) -> None:
    """Make a dataclass a container of pytrees. Its fields are the children.

    Other classes need `field_names`. If `field_names` is given, the fields in `drop_field_names` get their default.
    Raises ValueError if the names do not fit the fields.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     y: float
    >>> register_dataclass(Point)
    """
    names = _field_names(cls, field_names, set(drop_field_names or ()))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values, strict=True)], context

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        absent = [name for name in names if getattr(obj, name) is None]
        present = [name for name in names if name not in absent]
        return [getattr(obj, name) for name in present], [present, absent]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        present, absent = context
        return cls(**dict(zip(present, values, strict=True)), **dict.fromkeys(absent))

    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name,
                         flatten_with_keys_fn=flatten_with_keys)


def _field_names(cls: type[Any], given: list[str] | None, dropped: set[str]) -> list[str]:
    """The fields that are children. Raises ValueError if `given` and `dropped` are not all fields of a dataclass."""
    if not dataclasses.is_dataclass(cls):
        if given is None:
            raise ValueError("field_names must be specified with a list of all fields used to initialize "
                             f"{cls}, as it is not a dataclass.")
        return given
    fields = [field.name for field in dataclasses.fields(cls) if field.init]
    if given is None:
        return fields
    missing, unknown = set(fields) - set(given) - dropped, set(given) - (set(fields) - dropped)
    if missing or unknown:
        raise ValueError(
            "field_names does not include all dataclass fields.\n"
            + (f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please "
               "add them to `field_names`, otherwise please add them to `drop_field_names`.\n" if missing else "")
            + (f"Unexpected fields in `field_names`: {unknown}. Please remove these fields, or add them to "
               "`drop_field_names`.\n" if unknown else ""))
    return given


def register_constant(cls: type[Any]) -> None:
    """Make the objects of a class constants: containers without children, which a spec compares by `==`.

    Raises TypeError if the class has no `__eq__` or no `__hash__` of its own.
    """
    if getattr(cls, "__eq__") is object.__eq__:  # noqa: B009  # mypy takes the two functions for always different
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ is None:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")
    register_pytree_node(cls, lambda value: ([], ConstantNode(value)), lambda _, context: context.value,
                         flatten_with_keys_fn=lambda value: ([], ConstantNode(value)))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether `register_constant` has registered the class."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# The kinds that are always there


def is_namedtuple_class(cls: type[Any]) -> bool:
    """Whether a class is made by `namedtuple` or `typing.NamedTuple`, or derived from such a class."""
    fields = getattr(cls, "_fields", None)
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
            and all(type(field) is str for field in fields)
            and callable(getattr(cls, "_make", None)) and callable(getattr(cls, "_asdict", None)))


def is_structseq_class(cls: type[Any]) -> bool:
    """Whether a class is a structured sequence of C, such as `time.struct_time`, or one of `torch.return_types`."""
    return (isinstance(cls, type) and issubclass(cls, tuple) and (issubclass(cls, NamedResults) or (
        cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int)
                for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")))))


def node_type(tree: Any) -> Any:
    """The type under which a value stands in the registry, if it is a container. All named tuples share one."""
    cls = type(tree)
    if cls not in SUPPORTED_NODES and issubclass(cls, tuple):
        if is_namedtuple_class(cls):
            return namedtuple
        if issubclass(cls, NamedResults):                      # these classes are made at first use
            _sequence(cls, f"torch.return_types.{cls.__name__}", cls)
    return cls


def _list_flatten(d: Iterable[Any]) -> tuple[list[Any], Context]:
    """The children of a list, and no context."""
    return [*d], None


def _list_flatten_with_keys(d: Iterable[Any]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    """The children of a list with their places, and no context."""
    return [(SequenceKey(i), value) for i, value in enumerate(d)], None


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    """The list of these children."""
    return [*values]


_tuple_flatten, _tuple_flatten_with_keys = _list_flatten, _list_flatten_with_keys


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    """The tuple of these children."""
    return tuple(values)


def _namedtuple_flatten(d: Iterable[Any]) -> tuple[list[Any], Context]:
    """The fields of a named tuple, and its class."""
    return [*d], type(d)


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    """The fields of a named tuple with their names, and its class."""
    return [(GetAttrKey(name), value) for name, value in zip(d._fields, d, strict=True)], type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    """The named tuple of this class with these fields."""
    return context(*values)


def _dict_flatten(d: Mapping[Any, Any]) -> tuple[list[Any], Context]:
    """The values of a dictionary, and its keys."""
    return [*d.values()], [*d]


def _dict_flatten_with_keys(d: Mapping[Any, Any]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    """The values of a dictionary with their places, and its keys."""
    return [(MappingKey(key), value) for key, value in d.items()], [*d]


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    """The dictionary of these keys and values."""
    return dict(zip(context, values, strict=True))


def _sequence(cls: type[Any], name: str, make: Callable[[Iterable[Any]], Any]) -> None:
    register_pytree_node(cls, _list_flatten, lambda values, _: make(values), serialized_type_name=name,
                         flatten_with_keys_fn=_list_flatten_with_keys)


def _dictionary(cls: type[Any], name: str) -> None:
    register_pytree_node(
        cls, _dict_flatten, lambda values, keys: cls(zip(keys, values, strict=True)), serialized_type_name=name,
        flatten_with_keys_fn=_dict_flatten_with_keys)


def _dump_named_tuple(context: Any) -> DumpableContext:
    if context not in SERIALIZED:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`.")
    return SERIALIZED[context].name


def _dump_default_dict(context: list[Any]) -> DumpableContext:
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__,
            "dict_context": keys}


def _load_default_dict(context: Any) -> list[Any]:
    return [getattr(import_module(context["default_factory_module"]), context["default_factory_name"]),
            context["dict_context"]]


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a named tuple the name under which `treespec_dumps` writes it."""
    SERIALIZED[cls] = Serialized(cls, serialized_type_name, None, None)
    SERIALIZED_TYPES[serialized_type_name] = cls


def _register_builtin_kinds() -> None:
    _sequence(tuple, "builtins.tuple", tuple)
    _sequence(list, "builtins.list", list)
    _dictionary(dict, "builtins.dict")
    SUPPORTED_NODES[namedtuple] = NodeDef(
        namedtuple, _namedtuple_flatten,  # type: ignore[arg-type]  # a function stands for the kind
        _namedtuple_unflatten, _namedtuple_flatten_with_keys)
    SERIALIZED[namedtuple] = Serialized(namedtuple, "collections.namedtuple", _dump_named_tuple,
                                        lambda name: SERIALIZED_TYPES[name])
    SERIALIZED_TYPES["collections.namedtuple"] = namedtuple
    _dictionary(OrderedDict, "collections.OrderedDict")
    register_pytree_node(
        defaultdict, lambda values: ([*values.values()], [values.default_factory, [*values]]),
        lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
        serialized_type_name="collections.defaultdict", to_dumpable_context=_dump_default_dict,
        from_dumpable_context=_load_default_dict,
        flatten_with_keys_fn=lambda values: ([(MappingKey(key), value) for key, value in values.items()],
                                             [values.default_factory, [*values]]))
    register_pytree_node(
        deque, lambda values: ([*values], values.maxlen), lambda values, length: deque(values, maxlen=length),
        serialized_type_name="collections.deque",
        flatten_with_keys_fn=lambda values: ([(SequenceKey(i), value) for i, value in enumerate(values)],
                                             values.maxlen))
    _sequence(Size, "torch.Size", tuple)


_register_builtin_kinds()
BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})


# JSON


def dump_context(kind: Any, context: Context) -> tuple[str, DumpableContext]:
    """The name of a type in JSON, and its context as data. Raises NotImplementedError without a registered name."""
    serialized = SERIALIZED.get(kind)
    if serialized is None or serialized.name is None:
        raise NotImplementedError(f"No registered serialization name for {kind} found. Please update your "
                                  "_register_pytree_node call with a `serialized_type_name` kwarg.")
    if serialized.to_dumpable_context is not None:
        return serialized.name, serialized.to_dumpable_context(context)
    try:
        return serialized.name, json.dumps(context)
    except TypeError as error:
        raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom "
                        "serializer using _register_pytree_node.") from error


def load_context(name: str, context: DumpableContext) -> tuple[Any, Context]:
    """The type of a name in JSON, and its context. Raises NotImplementedError for an unknown name."""
    if name not in SERIALIZED_TYPES:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    kind = SERIALIZED_TYPES[name]
    load = SERIALIZED[kind].from_dumpable_context
    return kind, json.loads(context) if load is None else load(context)
