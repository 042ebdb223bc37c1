"""Divergences of Kullback and Leibler: E[log p - log q] for x from p. Functions are registered for pairs of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from retrograd import Tensor

from ..foundations.errors import noted, warn
from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Tensor]
Registered = TypeVar("Registered", bound=Callable[..., Any])

_KL_REGISTRY: dict[tuple[type, type], Divergence] = {}
_KL_MEMOIZE: dict[tuple[type, type], Divergence | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Registered], Registered]:
    """A decorator that registers a function of p and q for `kl_divergence`, for two classes and their subclasses.

    >>> import retrograd as torch
    >>> from retrograd.distributions import Cauchy, Gumbel, kl_divergence, register_kl
    >>> @register_kl(Cauchy, Gumbel)
    ... def infinite(p, q):
    ...     return torch.full_like(p.loc, torch.inf)
    >>> kl_divergence(Cauchy(0.0, 1.0), Gumbel(0.0, 1.0))
    tensor(inf)

    Raises TypeError if an argument is no class.
    """
    for cls in (type_p, type_q):
        if not isinstance(cls, type):
            raise noted(TypeError("issubclass() arg 1 must be a class"), given=repr(cls))

    def register(function: Registered) -> Registered:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type) -> Divergence | None:
    """The function for the nearest base classes, or None.

    The nearest base of p counts first. If another function would be found with the nearest base of q first, a warning
    says so.
    """
    bases_p, bases_q = type_p.__mro__, type_q.__mro__
    found = [pair for pair in _KL_REGISTRY if pair[0] in bases_p and pair[1] in bases_q]
    if not found:
        return None
    left = min(found, key=lambda pair: (bases_p.index(pair[0]), bases_q.index(pair[1])))
    right = min(found, key=lambda pair: (bases_q.index(pair[1]), bases_p.index(pair[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left[0].__name__}, "
             f"{right[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence KL(p || q), of the shape of the batch.

    >>> import retrograd as torch
    >>> from retrograd.distributions import Exponential, kl_divergence
    >>> kl_divergence(Exponential(1.0), Exponential(2.0))
    tensor(0.3069)

    Raises NotImplementedError if there is no function for the classes of p and q.
    """
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    function = _KL_MEMOIZE[pair]
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type "
                                  f"{pair[1].__name__}")
    return function(p, q)
