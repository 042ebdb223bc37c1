"""The named tuples that operators with several results return: `torch.return_types`. Must not know operators."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar


class NamedResults(tuple[Any, ...]):
    """Several results, by position and by name. Made from a sequence, as PyTorch's are."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]] = ()
    n_fields = n_sequence_fields = 0
    n_unnamed_fields = 0

    def __new__(cls, results: Iterable[Any]) -> NamedResults:
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


def _named(name: str, *fields: str) -> type[NamedResults]:
    return type(name, (NamedResults,), {
        "__slots__": (), "__module__": __name__, "__doc__": f"What `torch.{name}` returns: {', '.join(fields)}.",
        "fields": fields, "n_fields": len(fields), "n_sequence_fields": len(fields),
        **{field: property(itemgetter(i)) for i, field in enumerate(fields)}})


max = _named("max", "values", "indices")
min = _named("min", "values", "indices")
median = _named("median", "values", "indices")
nanmedian = _named("nanmedian", "values", "indices")
mode = _named("mode", "values", "indices")
kthvalue = _named("kthvalue", "values", "indices")
sort = _named("sort", "values", "indices")
topk = _named("topk", "values", "indices")
cummax = _named("cummax", "values", "indices")
cummin = _named("cummin", "values", "indices")
aminmax = _named("aminmax", "min", "max")
frexp = _named("frexp", "mantissa", "exponent")
histogram = _named("histogram", "hist", "bin_edges")
histogramdd = _named("histogramdd", "hist", "bin_edges")

# The same, of what was written to `out`.
max_out = _named("max_out", *max.fields)
min_out = _named("min_out", *min.fields)
median_out = _named("median_out", *median.fields)
nanmedian_out = _named("nanmedian_out", *nanmedian.fields)
mode_out = _named("mode_out", *mode.fields)
kthvalue_out = _named("kthvalue_out", *kthvalue.fields)
sort_out = _named("sort_out", *sort.fields)
topk_out = _named("topk_out", *topk.fields)
cummax_out = _named("cummax_out", *cummax.fields)
cummin_out = _named("cummin_out", *cummin.fields)
aminmax_out = _named("aminmax_out", *aminmax.fields)
frexp_out = _named("frexp_out", *frexp.fields)
histogram_out = _named("histogram_out", *histogram.fields)
