"""`torch.return_types`: the named tuples that functions with several results return."""

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
linalg_slogdet = _named("linalg_slogdet", "sign", "logabsdet")
slogdet = _named("slogdet", "sign", "logabsdet")
linalg_inv_ex = _named("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = _named("linalg_solve_ex", "result", "info")
linalg_lstsq = _named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
triangular_solve = _named("triangular_solve", "solution", "cloned_coefficient")
linalg_cholesky_ex = _named("linalg_cholesky_ex", "L", "info")
linalg_qr = _named("linalg_qr", "Q", "R")
qr = _named("qr", "Q", "R")
linalg_svd = _named("linalg_svd", "U", "S", "Vh")
svd = _named("svd", "U", "S", "V")
linalg_eigh = _named("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_eig = _named("linalg_eig", "eigenvalues", "eigenvectors")
linalg_lu = _named("linalg_lu", "P", "L", "U")
linalg_lu_factor = _named("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _named("linalg_lu_factor_ex", "LU", "pivots", "info")
_lu_with_info = _named("_lu_with_info", "LU", "pivots", "info")
lu_unpack = _named("lu_unpack", "P", "L", "U")
linalg_ldl_factor = _named("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _named("linalg_ldl_factor_ex", "LD", "pivots", "info")
geqrf = _named("geqrf", "a", "tau")

# The named tuples of results that were written to `out`.
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
linalg_slogdet_out = _named("linalg_slogdet_out", *linalg_slogdet.fields)
slogdet_out = _named("slogdet_out", *slogdet.fields)
linalg_inv_ex_out = _named("linalg_inv_ex_out", *linalg_inv_ex.fields)
linalg_solve_ex_out = _named("linalg_solve_ex_out", *linalg_solve_ex.fields)
linalg_lstsq_out = _named("linalg_lstsq_out", *linalg_lstsq.fields)
triangular_solve_out = _named("triangular_solve_out", *triangular_solve.fields)
linalg_cholesky_ex_out = _named("linalg_cholesky_ex_out", *linalg_cholesky_ex.fields)
linalg_qr_out = _named("linalg_qr_out", *linalg_qr.fields)
qr_out = _named("qr_out", *qr.fields)
linalg_svd_out = _named("linalg_svd_out", *linalg_svd.fields)
svd_out = _named("svd_out", *svd.fields)
linalg_eigh_out = _named("linalg_eigh_out", *linalg_eigh.fields)
linalg_eig_out = _named("linalg_eig_out", *linalg_eig.fields)
linalg_lu_out = _named("linalg_lu_out", *linalg_lu.fields)
linalg_lu_factor_out = _named("linalg_lu_factor_out", *linalg_lu_factor.fields)
linalg_lu_factor_ex_out = _named("linalg_lu_factor_ex_out", *linalg_lu_factor_ex.fields)
lu_unpack_out = _named("lu_unpack_out", *lu_unpack.fields)
linalg_ldl_factor_out = _named("linalg_ldl_factor_out", *linalg_ldl_factor.fields)
linalg_ldl_factor_ex_out = _named("linalg_ldl_factor_ex_out", *linalg_ldl_factor_ex.fields)
geqrf_out = _named("geqrf_out", *geqrf.fields)
