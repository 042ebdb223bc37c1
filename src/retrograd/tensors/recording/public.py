"""The decorator of public functions: everything about a function follows from its schemas and its definition.

    @public("cumsum(Tensor input, int dim, *, dtype dtype=None, Tensor out=None) -> Tensor", out=TYPED)
    def cumsum(input, dim, *, dtype=None):
        ...

The decorator returns an entry, which calls the decorated function, the body. The entry does more only if the call needs
it:

- Arguments that do not fit raise PyTorch's error, which is made from the schemas.
- `out=` writes the result to the caller's tensor by the rule for `out` (see the module `out`).
- Modes and classes with `__torch_function__` handle the call (see `overriding`).
- NumPy's names of parameters, such as `axis`, are accepted.
- `inspect.signature` shows the schema's parameters.

PyTorch writes some functions in Python. These have no schemas here: their `def` is the signature, and wrong arguments
raise Python's own errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...foundations.devices import on_meta
from ...tensors.state.base import TensorBase
from ..arguments.checking import ALIASES
from ..arguments.schemas import SignatureOfSchema
from ..state.dispatch import DISPATCH, UNHANDLED
from .overriding import handled
from .public_facts import OutRule, Public

F = TypeVar("F", bound=Callable[..., Any])
_free = frozenset(("out", *ALIASES)).isdisjoint

# The methods and properties of tensors by name, from which the class Tensor is made.
METHODS: dict[str, Any] = {}


def methods(*functions: Any, **named: Any) -> None:
    """Declare methods of tensors: functions by their own names, and functions or properties by other names."""
    METHODS.update({function.__name__: function for function in functions}, **named)


def public(*schemas: str, out: OutRule = None, event: str = "", strict: bool = False, for_modes: bool = False,
           method: bool = False, bound: bool = False, operator: str = "", name: str = "",
           doc: str = "") -> Callable[[F], F]:
    """The decorator of a public function. `Public` explains the options; `name` and `doc` are for functions that a
    factory makes. With `method` the function is a method of tensors, too.
    """

    def decorate(body: F) -> F:
        if name:
            body.__name__ = body.__qualname__ = name
        if doc:
            body.__doc__ = doc
        facts = Public(body, schemas, out, event, strict, for_modes, operator, bound)
        entry: Any = _factory(schemas, strict, for_modes)(facts, body)
        facts.entry = entry
        entry.__name__, entry.__qualname__ = body.__name__, body.__qualname__
        entry.__module__, entry.__doc__, entry.__wrapped__ = body.__module__, body.__doc__, body
        entry.__annotations__ = body.__annotations__
        entry.public = facts
        if method:
            METHODS[entry.__name__] = entry
        if schemas or out is not None:
            entry.__signature__ = SignatureOfSchema(schemas, body, out is not None)
        return entry  # type: ignore[no-any-return]

    return decorate


def _factory(schemas: tuple[str, ...], strict: bool, for_modes: bool
             ) -> Callable[[Public, Callable[..., Any]], Callable[..., Any]]:
    """The maker of the cheapest entry for these schemas: an entry looks only at arguments that may be tensors."""
    if strict or for_modes:
        return _entry_for_all if for_modes else _entry_of_strict
    if not schemas:
        return _entry_of_any
    head = schemas[0].partition(", *")[0]
    if head.partition("(")[2].startswith("Tensors"):
        return _entry_of_sequence
    tensors = max(schema.partition(" -> ")[0].count("Tensor ") - schema.count("Tensor out") for schema in schemas)
    return _entry_of_none if tensors == 0 else _entry_of_first if tensors == 1 else _entry_of_any


def _unusual(kwargs: dict[str, Any]) -> bool:
    """Whether arguments by name cannot go straight to the body: one is `out`, has a NumPy name or names `meta`."""
    return not _free(kwargs) or ("device" in kwargs and on_meta(kwargs["device"]))


# The entries. A usual call goes straight to the body. The entries differ in the arguments that they look at first.

def _entry_for_all(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a function that makes tensors from any data. It treats every call as unusual."""
    def entry(*args: Any, **kwargs: Any) -> Any:
        return facts.call(args, kwargs)

    return entry


def _entry_of_strict(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a strict function. Only types of arguments that fitted before are usual."""
    known = facts.known

    def entry(*args: Any, **kwargs: Any) -> Any:
        types = tuple(map(type, args))
        if not kwargs and types in known and DISPATCH.inert.issuperset(types):
            try:
                return body(*args)
            except Exception:
                wrong = facts.refused(args, kwargs)
                if wrong is None:
                    raise
            return facts.instead(wrong, args, kwargs)
        return facts.call(args, kwargs)

    return entry


def _entry_of_none(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a function without tensors among its arguments. Only modes can handle its calls."""
    def entry(*args: Any, **kwargs: Any) -> Any:
        if DISPATCH.inert and not (kwargs and _unusual(kwargs)):
            try:
                return body(*args, **kwargs) if kwargs else body(*args)
            except Exception:
                wrong = facts.refused(args, kwargs)
                if wrong is None:
                    raise
            return facts.instead(wrong, args, kwargs)   # outside of `except`: the first error is not its context
        return facts.call(args, kwargs)

    return entry


def _entry_of_first(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a function with one tensor argument, the first."""
    def entry(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) in DISPATCH.inert and not (kwargs and _unusual(kwargs)):
            try:
                return body(*args, **kwargs) if kwargs else body(*args)
            except Exception:
                wrong = facts.refused(args, kwargs)
                if wrong is None:
                    raise
            return facts.instead(wrong, args, kwargs)
        return facts.call(args, kwargs)

    return entry


def _entry_of_any(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a function that may take a tensor as any argument."""
    def entry(*args: Any, **kwargs: Any) -> Any:
        inert = DISPATCH.inert
        for x in args:
            kind = type(x)
            if kind not in inert and not ((kind is tuple or kind is list) and inert and inert.issuperset(map(type, x))):
                return facts.call(args, kwargs)
        if kwargs:
            for x in kwargs.values():
                if type(x) not in inert:
                    return facts.call(args, kwargs)
            if _unusual(kwargs):
                return facts.call(args, kwargs)
        elif not args:
            return facts.call(args, kwargs)
        try:
            return body(*args, **kwargs) if kwargs else body(*args)     # a call without ** is quicker
        except Exception:
            wrong = facts.refused(args, kwargs)
            if wrong is None:
                raise
        return facts.instead(wrong, args, kwargs)

    return entry


def _entry_of_sequence(facts: Public, body: Callable[..., Any]) -> Callable[..., Any]:
    """The entry of a function whose first argument is a list or tuple of tensors."""
    def entry(*args: Any, **kwargs: Any) -> Any:
        if not args or type(args[0]) not in (list, tuple) or (kwargs and _unusual(kwargs)):
            return facts.call(args, kwargs)
        inert = DISPATCH.inert
        for x in args[0]:
            if type(x) not in inert:
                return facts.call(args, kwargs)
        try:
            return body(*args, **kwargs) if kwargs else body(*args)     # a call without ** is quicker
        except Exception:
            wrong = facts.refused(args, kwargs)
            if wrong is None:
                raise
        return facts.instead(wrong, args, kwargs)

    return entry


class _PublicProperty(property):
    """A property of tensors. Modes and classes with `__torch_function__` can handle reading and assigning it."""

    def __init__(self, fget: Any = None, fset: Any = None, fdel: Any = None, doc: str | None = None) -> None:
        get, set_ = getattr(fget, "body", fget), getattr(fset, "body", fset)      # if a setter is added

        def asked(tensor: Any) -> Any:
            if type(tensor) is DISPATCH.plain or type(tensor) in DISPATCH.inert:
                return get(tensor)
            result = handled(self.__get__, (tensor,), {})
            return get(tensor) if result is UNHANDLED else result

        def assigned(tensor: TensorBase, value: Any) -> None:
            if type(tensor) is DISPATCH.plain or type(tensor) in DISPATCH.inert or handled(
                    self.__set__, (tensor, value), {}) is UNHANDLED:
                set_(tensor, value)

        asked.body, assigned.body = get, set_  # type: ignore[attr-defined]
        super().__init__(asked, None if set_ is None else assigned, fdel, doc or get.__doc__)


if TYPE_CHECKING:
    public_property = property
else:
    public_property = _PublicProperty
