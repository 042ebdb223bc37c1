"""`torch.return_types`: the named tuples that functions with several results return. `FIELDS` lists them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar


class NamedResults(tuple[Any, ...]):
    """Several results, by position and by name. Like PyTorch's, it is made from a sequence."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ()
    n_fields = n_sequence_fields = 0
    n_unnamed_fields = 0

    def __new__(cls, results: Iterable[Any], named: Any = None) -> NamedResults:
        """The results. PyTorch's pickles pass an empty dictionary, too."""
        if named is not None and not isinstance(named, dict):
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a dict as second arg, if any")
        self = super().__new__(cls, results)
        if len(self) != cls.n_fields:
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence "
                            f"({len(self)}-sequence given)")
        return self

    def __repr__(self) -> str:
        named = ",\n".join(f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{named})"

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


# The fields of each named tuple.
FIELDS = {
    "max": "values indices",
    "min": "values indices",
    "median": "values indices",
    "nanmedian": "values indices",
    "mode": "values indices",
    "kthvalue": "values indices",
    "sort": "values indices",
    "topk": "values indices",
    "cummax": "values indices",
    "cummin": "values indices",
    "aminmax": "min max",
    "frexp": "mantissa exponent",
    "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges",
    "linalg_slogdet": "sign logabsdet",
    "slogdet": "sign logabsdet",
    "linalg_inv_ex": "inverse info",
    "linalg_solve_ex": "result info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "triangular_solve": "solution cloned_coefficient",
    "linalg_cholesky_ex": "L info",
    "linalg_qr": "Q R",
    "qr": "Q R",
    "linalg_svd": "U S Vh",
    "svd": "U S V",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "_lu_with_info": "LU pivots info",
    "lu_unpack": "P L U",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "geqrf": "a tau",
}
# The named tuples of results that were written to `out`.
FIELDS |= {f"{name}_out": fields for name, fields in FIELDS.items() if name not in ('histogramdd', '_lu_with_info')}


def _named(name: str, fields: tuple[str, ...]) -> type[NamedResults]:
    return type(name, (NamedResults,), {
        "__slots__": (), "__module__": __name__, "__doc__": f"What `torch.{name}` returns: {', '.join(fields)}.",
        "fields": fields, "n_fields": len(fields), "n_sequence_fields": len(fields),
        **{field: property(itemgetter(i)) for i, field in enumerate(fields)}})


def __getattr__(name: str) -> type[NamedResults]:
    """Make the class of a named tuple when a program first names it. An import need not make them all."""
    if name not in FIELDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, _named(name, tuple(FIELDS[name].split())))     # the same for all threads


def __dir__() -> list[str]:
    return [*{**globals(), **FIELDS}]
