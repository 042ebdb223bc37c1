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
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...foundations.devices import on_meta
from ...tensors.state.base import TensorBase
from ..arguments.checking import ALIASES
from ..arguments.schemas import SignatureOfSchema
from ..state.dispatch import DISPATCH, UNHANDLED
from .out_rules import Rule
from .overriding import handled
from .public_facts import OutRule, Public

F = TypeVar("F", bound=Callable[..., Any])
_free = frozenset(("out", "layout", *ALIASES)).isdisjoint

# The methods and properties of tensors by name, from which the class Tensor is made.
METHODS: dict[str, Any] = {}


def methods(*functions: Any, **named: Any) -> None:
    """Declare methods of tensors: functions by their own names, and functions or properties by other names.

    A public function with schemas gets an entry of its own as a method, since PyTorch's errors do not count the tensor
    of a method among the arguments.
    """
    for name, function in [*[(function.__name__, function) for function in functions], *named.items()]:
        facts = getattr(function, "public", None)
        METHODS[name] = function
        if facts is not None and facts.bind is not None:
            METHODS[name] = facts.bind(function.__name__ if name.startswith("__") else name)
        elif facts is not None and facts.schemas and not facts.bound and facts.body is not function:
            METHODS[name] = entry = _entry(Public(facts.body, facts.schemas, facts.out, facts.event, facts.strict,
                                                  facts.for_modes, facts.operator, True))
            entry.__name__ = entry.__qualname__ = function.__name__


def public(*schemas: str, out: OutRule = None, event: str = "", strict: bool = False, for_modes: bool = False,
           method: bool = False, bound: bool = False, operator: str = "", name: str = "",
           doc: str = "") -> Callable[[F], F]:
    """The decorator of a public function. `Public` explains the options; `name` and `doc` are for functions that a
    factory makes. With `method` the function is a method of tensors, too; with the name "Tensor.norm" it is that alone.
    """

    def decorate(body: F) -> F:
        if name:
            body.__name__, body.__qualname__ = name.rpartition(".")[2], name
        if doc:
            body.__doc__ = doc
        entry = _entry(Public(body, schemas, out, event, strict, for_modes, operator, bound))
        if method:
            methods(entry)
        return entry  # type: ignore[no-any-return]

    return decorate


def renamed(function: F, name: str, *schemas: str) -> F:
    """A function under another name, which its errors say, and with other schemas if these are given.

    PyTorch has two functions, such as `clamp` and `clip`, or `xlogy` and `special_xlogy`. Errors about gradients of
    `out` name the first.
    """
    known: Public = function.public  # type: ignore[attr-defined]
    blame, chosen = known.entry.__name__, known.out
    out: OutRule = chosen
    if isinstance(chosen, Rule):
        out = chosen._replace(blame=chosen.blame or blame)
    elif chosen is not None:
        def out(*args: Any, **options: Any) -> Rule:
            rule: Rule = chosen(*args, **options)
            return rule._replace(blame=blame)
    facts = Public(known.body, schemas or tuple([f"{name}({text.partition('(')[2]}" for text in known.schemas]),
                   out, known.event, known.strict, known.for_modes, known.operator, known.bound)
    entry = _entry(facts)
    entry.__name__ = entry.__qualname__ = name
    return entry  # type: ignore[no-any-return]


def _entry(facts: Public) -> Any:
    """The entry of the function with these facts."""
    body, schemas = facts.body, facts.schemas
    facts.entry = entry = cast(Any, _factory(schemas, facts.strict, facts.for_modes)(facts, body))
    entry.__name__, entry.__qualname__ = body.__name__, body.__qualname__
    entry.__module__, entry.__doc__, entry.__wrapped__ = body.__module__, body.__doc__, body
    entry.__annotations__ = body.__annotations__
    entry.public = facts
    if schemas or facts.out is not None:
        entry.__signature__ = SignatureOfSchema(schemas, body, facts.out is not None)
    return entry


@cache
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
    first = all([schema.partition("(")[2].startswith("Tensor ") for schema in schemas])
    return _entry_of_none if tensors == 0 else _entry_of_first if tensors == 1 and first else _entry_of_any


def _unusual(kwargs: dict[str, Any]) -> bool:
    """Whether arguments by name cannot go straight to the body: one is `out` or `layout`, has a NumPy name, or names
    the device `meta`.
    """
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
            except Exception as error:
                wrong = facts.refused(args, kwargs, error)
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
            except Exception as error:
                wrong = facts.refused(args, kwargs, error)
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
            except Exception as error:
                wrong = facts.refused(args, kwargs, error)
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
        except Exception as error:
            wrong = facts.refused(args, kwargs, error)
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
        except Exception as error:
            wrong = facts.refused(args, kwargs, error)
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
        super().__init__(asked, None if set_ is None else assigned, fdel)
        self.__doc__ = doc or get.__doc__                    # Python 3.11 would show the text of this class

    def __set_name__(self, owner: type, name: str) -> None:
        """Without a setter, refuse to assign and to delete in PyTorch's words. Python's own would name this class."""
        if self.fset is None:
            def refused(tensor: TensorBase, *value: Any) -> None:
                raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

            text = self.__doc__
            super().__init__(self.fget, refused, refused)
            self.__doc__ = text


if TYPE_CHECKING:
    public_property = property
else:
    public_property = _PublicProperty
