"""Entries for factorizations, determinants, inverses and systems of equations.

What they return is compared where it is unique: vectors of arbitrary sign or phase only in products that do not depend
on it. Matrices that have to be definite, triangular or far from singular are made so within the call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes

SQUARE: tuple[Shapes, ...] = (((3, 3),), ((2, 2, 2),))
ANY: tuple[Shapes, ...] = (((3, 3),), ((4, 2),), ((2, 2, 3),))
TALL: tuple[Shapes, ...] = (((4, 2),), ((3, 3),), ((2, 3, 2),))
SOLVED: tuple[Shapes, ...] = (((3, 3), (3, 2)), ((2, 2, 2), (2, 1)), ((2, 2), (3, 2, 2)))
RIGHT: tuple[Shapes, ...] = (((3, 3), (2, 3)), ((2, 2, 2), (1, 2)))

NO_FORWARD = "PyTorch has no forward mode of it"
# PyTorch asks no kernel of its own for empty matrices, and so refuses no dtype of them.
EMPTY = dict.fromkeys("hib", "PyTorch takes empty matrices of any dtype")


def regular(t: Any, x: Any) -> Any:
    """Square matrices that are far from singular."""
    return x + 4 * t.eye(x.shape[-1], dtype=x.dtype)


def definite(t: Any, x: Any) -> Any:
    """Hermitian positive-definite matrices."""
    return x @ x.mH + t.eye(x.shape[-2], dtype=x.dtype)


def hermitian(t: Any, x: Any) -> Any:
    """Hermitian matrices of distinct eigenvalues."""
    return x + x.mH + t.diag(5 * t.arange(x.shape[-1])).to(x.dtype)


def distinct(t: Any, x: Any) -> Any:
    """Matrices of distinct singular values that are not small."""
    shift = t.diag(2 + 2 * t.arange(max(x.shape[-2:])))[: x.shape[-2], : x.shape[-1]]
    shift = shift if x.dtype is t.bool else shift.to(x.dtype)
    return x // 2 + shift if x.dtype in (t.uint8, t.int32, t.int64) else x / 2 + shift


def quietly(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call of a function that PyTorch warns of."""

    def called(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return call(*args)

    return called


def rebuilt(parts: Any) -> Any:
    """U @ diag(S) @ Vh, U of twice S."""
    u, s, vh = parts
    k = s.shape[-1]
    return u[..., :k] @ (s.to(u.dtype)[..., None] * vh[..., :k, :]), (u[..., :k] * s[..., None, :] ** 2) @ u[..., :k].mH


def _eigenvectors(t: Any, x: Any) -> Any:
    values, vectors = t.linalg.eig(regular(t, 0.3 * x) + t.diag(2 * t.arange(x.shape[-1])).to(x.dtype))
    return (values ** 3).sum(-1), (vectors.abs() ** 4 * values.abs()[..., None, :]).sum(-1)


def _eigh(uplo: str) -> Callable[..., Any]:
    def call(t: Any, x: Any) -> Any:
        values, vectors = t.linalg.eigh(hermitian(t, x), uplo)
        return values, vectors.abs(), vectors @ (values ** 2)[..., None].to(x.dtype).mul(vectors.mH)

    return call


def _lu_solve(**options: Any) -> Callable[..., Any]:
    return lambda t, x, y: t.linalg.lu_solve(*t.linalg.lu_factor(regular(t, x)), y, **options)


def _lower(t: Any, x: Any) -> Any:
    return regular(t, x).tril()


DETERMINANTS = [
    Entry("linalg.det", lambda t, x: t.linalg.det(x), SQUARE, kinds="fc"),
    Entry("det", lambda t, x: x.det(), SQUARE, kinds="fc"),
    Entry("det of rank n - 1", lambda t, x, y: t.det(x @ y), (((3, 2), (2, 3)),), kinds="fc"),
    Entry("linalg.slogdet", lambda t, x: t.linalg.slogdet(x), SQUARE, kinds="fc"),
    Entry("slogdet", lambda t, x: t.slogdet(x), SQUARE, kinds="fc"),
    Entry("logdet", lambda t, x: t.logdet(definite(t, x)), SQUARE, kinds="fc"),
    Entry("linalg.inv", lambda t, x: t.linalg.inv(regular(t, x)), SQUARE, kinds="fc"),
    Entry("linalg.inv_ex", lambda t, x: t.linalg.inv_ex(regular(t, x)), SQUARE, kinds="fc"),
    Entry("inverse", lambda t, x: regular(t, x).inverse(), SQUARE, kinds="fc"),
    Entry("linalg.pinv", lambda t, x: t.linalg.pinv(distinct(t, x)), ANY, kinds="fc"),
    Entry("linalg.pinv hermitian", lambda t, x: t.linalg.pinv(hermitian(t, x), rcond=1e-3, hermitian=True), SQUARE,
          kinds="fc"),
    Entry("linalg.pinv of rank 2", lambda t, x, y: t.linalg.pinv(x @ y, rtol=1e-3, atol=1e-3), (((3, 2), (2, 4)),),
          kinds="fc"),
    Entry("pinverse", lambda t, x: t.pinverse(distinct(t, x)), TALL, kinds="fc"),
]
SOLVING = [
    Entry("linalg.solve matrices", lambda t, x, y: t.linalg.solve(regular(t, x), y), SOLVED, kinds="fc"),
    Entry("linalg.solve of vectors", lambda t, x, y: t.linalg.solve(regular(t, x), y),
          (((3, 3), (3,)), ((4, 2, 2), (4, 2)), ((4, 2, 2), (2,))), kinds="fc"),
    Entry("linalg.solve left=False", lambda t, x, y: t.linalg.solve(regular(t, x), y, left=False), RIGHT, kinds="fc"),
    Entry("linalg.solve_ex", lambda t, x, y: t.linalg.solve_ex(regular(t, x), y), SOLVED[:1], kinds="fc"),
    *(Entry(f"linalg.solve_triangular upper={upper} left={left} unitriangular={unit}",
            lambda t, x, y, upper=upper, left=left, unit=unit: t.linalg.solve_triangular(
                regular(t, x), y, upper=upper, left=left, unitriangular=unit), SOLVED if left else RIGHT, kinds="fc")
      for upper in (False, True) for left in (False, True) for unit in (False, True)),
    *(Entry(f"triangular_solve upper={upper} transpose={transpose}",
            quietly(lambda t, x, y, upper=upper, transpose=transpose: t.triangular_solve(
                y, regular(t, x).triu() if upper else regular(t, x).tril(), upper, transpose)), SOLVED[:2], kinds="fc",
            wrong_tangent="the transpose is forgotten" if transpose else "")
      for upper in (False, True) for transpose in (False, True)),
    Entry("triangular_solve unitriangular",
          quietly(lambda t, x, y: t.triangular_solve(y, x.triu(1), unitriangular=True)[0]),
          SOLVED[:1], kinds="fc"),
    *(Entry(f"linalg.lstsq {driver}", lambda t, x, y, driver=driver: t.linalg.lstsq(
        distinct(t, x), y, rcond=None, driver=driver)[:2], (((4, 2), (4, 3)), ((3, 3), (3, 1)), ((2, 2, 3), (2, 2, 2))),
            kinds="fc") for driver in ("gels", "gelsy", "gelsd", "gelss")),
    Entry("linalg.lstsq of vectors", lambda t, x, y: t.linalg.lstsq(distinct(t, x), y),
          (((4, 2), (4,)), ((2, 3, 2), (2, 3))), kinds="fc"),
    *(Entry(f"cholesky_solve upper={upper}", lambda t, x, y, upper=upper: t.cholesky_solve(
        y, _lower(t, x).mT if upper else _lower(t, x), upper), SOLVED, kinds="fc") for upper in (False, True)),
    *(Entry(f"cholesky_inverse upper={upper}", lambda t, x, upper=upper: t.cholesky_inverse(
        t.linalg.cholesky(definite(t, x), upper=upper), upper), SQUARE, kinds="fc",
            wrong_tangent="a factor is missing") for upper in (False, True)),
    *(Entry(f"linalg.lu_solve {options}", _lu_solve(**options), SOLVED if options.get("left", True) else RIGHT,
            kinds="fc") for options in ({}, {"adjoint": True}, {"left": False}, {"left": False, "adjoint": True})),
    Entry("lu_solve", quietly(lambda t, x, y: y.lu_solve(*regular(t, x).lu())), SOLVED[:1], kinds="fc"),
    Entry("linalg.ldl_factor", lambda t, x: t.linalg.ldl_factor_ex(x), SQUARE, kinds="fc", refused=True),
    Entry("linalg.ldl_solve", lambda t, x, y: t.linalg.ldl_solve(
        *t.linalg.ldl_factor(hermitian(t, x).detach(), hermitian=True), y, hermitian=True), SOLVED[:2], kinds="fc",
          refused=True, other_nodes="PyTorch's node leads to what requires grad alone"),
]
def low_rank(name: str, **options: Any) -> Callable[..., Any]:
    """What does not depend on signs of an approximation by a few vectors, of as many as make it exact."""

    def call(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        u, s, v = getattr(t, name)(distinct(t, x), q=min(x.shape[-2:]), **options)
        return (*rebuilt((u, s, v.mH)), s)

    return call


def few_eigenvalues(*names: str, **options: Any) -> Callable[..., Any]:
    """lobpcg, with other tensors by their names, and its vectors without their signs."""

    def call(t: Any, x: Any, *others: Any) -> Any:
        t.manual_seed(0)
        diagonal = t.diag(5 * t.arange(x.shape[-1])).to(x.dtype)
        e, v = t.lobpcg((x + x.mT) / 4 + diagonal, tol=1e-12, niter=300, **options,
                        **{name: definite(t, other) for name, other in zip(names, others)})
        return e, v * v

    return call


_LOBPCG: dict[str, Any] = {"other_nodes": "a custom Function in PyTorch"}
_ITERATED = "PyTorch iterates in single precision, to four digits, and finds other vectors of equal eigenvalues"


DECOMPOSITIONS = [
    *(Entry(f"linalg.cholesky upper={upper}", lambda t, x, upper=upper: t.linalg.cholesky(definite(t, x), upper=upper),
            SQUARE, kinds="fc") for upper in (False, True)),
    Entry("linalg.cholesky_ex", lambda t, x: t.linalg.cholesky_ex(definite(t, x)), SQUARE, kinds="fc"),
    Entry("cholesky", quietly(lambda t, x: t.cholesky(definite(t, x))), SQUARE, kinds="fc", no_tangent=NO_FORWARD),
    Entry("linalg.qr", lambda t, x: t.linalg.qr(distinct(t, x)), ANY, kinds="fc"),
    Entry("linalg.qr complete", lambda t, x: t.linalg.qr(distinct(t, x), "complete"), (((3, 3),), ((2, 2, 4),)),
          kinds="fc"),
    Entry("qr", quietly(lambda t, x: distinct(t, x).qr()), TALL, kinds="fc"),
    Entry("linalg.svd", lambda t, x: rebuilt(t.linalg.svd(distinct(t, x), full_matrices=False)), ANY, kinds="fc"),
    Entry("linalg.svd vectors", lambda t, x: [p.abs() for p in t.linalg.svd(distinct(t, x), full_matrices=False)], ANY,
          kinds="fc"),
    Entry("linalg.svd full", lambda t, x: rebuilt(t.linalg.svd(distinct(t, x), True, driver=None)), ANY, kinds="fc"),
    Entry("linalg.svd values", lambda t, x: t.linalg.svd(distinct(t, x))[1], ANY, kinds="fc"),
    Entry("linalg.svdvals", lambda t, x: t.linalg.svdvals(distinct(t, x), driver=None), ANY, kinds="fc"),
    Entry("svd", lambda t, x: [p.abs() for p in distinct(t, x).svd()], TALL, kinds="fc"),
    Entry("svd_lowrank", low_rank("svd_lowrank"), ANY, kinds="fc"),
    Entry("svd_lowrank M", lambda t, x, m: low_rank("svd_lowrank", M=m / 4)(t, x), (((4, 2), (1, 2)), ((2, 3), (2, 3))),
          kinds="fc"),
    Entry("pca_lowrank", low_rank("pca_lowrank"), (((4, 2),), ((2, 3, 2),)), kinds="fc"),
    Entry("pca_lowrank of rows", low_rank("pca_lowrank", center=False), (((2, 3),),), kinds="f"),
    Entry("lobpcg", few_eigenvalues(), (((3, 3),), ((2, 4, 4),)), **_LOBPCG,
          apart={"h": "PyTorch raises a KeyError"}),
    Entry("lobpcg smallest", few_eigenvalues(k=2, largest=False), (((7, 7),),), **_LOBPCG,
          apart=dict.fromkeys("hib", _ITERATED), unsteady_tangent="nan, if an iteration meets a vector twice"),
    Entry("lobpcg B", few_eigenvalues("B"), (((4, 4), (4, 4)),), **_LOBPCG,
          apart={"f": "PyTorch has no derivative with B"}),
    Entry("svd values", lambda t, x: t.svd(distinct(t, x), compute_uv=False), TALL, kinds="fc"),
    Entry("linalg.eigh", _eigh("L"), SQUARE, kinds="fc"),
    Entry("linalg.eigh UPLO='U'", _eigh("U"), SQUARE, kinds="fc"),
    Entry("linalg.eigh values", lambda t, x: t.linalg.eigh(hermitian(t, x))[0], SQUARE, kinds="fc"),
    Entry("linalg.eigvalsh", lambda t, x: t.linalg.eigvalsh(hermitian(t, x), "U"), SQUARE, kinds="fc"),
    Entry("linalg.eig", _eigenvectors, SQUARE, kinds="fc"),
    Entry("linalg.eig values", lambda t, x: t.linalg.eig(x)[0].sum(-1), SQUARE, kinds="fc"),
    Entry("linalg.eigvals", lambda t, x: (t.linalg.eigvals(regular(t, x)) ** 3).sum(-1), SQUARE, kinds="fc"),
    Entry("linalg.lu", lambda t, x: t.linalg.lu(x, pivot=True), ANY, kinds="fc"),
    Entry("linalg.lu_factor", lambda t, x: t.linalg.lu_factor(distinct(t, x), pivot=True), ANY, kinds="fc"),
    Entry("linalg.lu_factor_ex", lambda t, x: t.linalg.lu_factor_ex(x), ANY, kinds="fc"),
    Entry("lu_unpack", quietly(lambda t, x: t.lu_unpack(*t.lu(x))), ANY, kinds="fc"),
    Entry("linalg.householder_product", lambda t, x, y: t.linalg.householder_product(x, y),
          (((4, 2), (2,)), ((3, 3), (2,)), ((2, 3, 2), (2, 2)), ((3, 2), (0,))), kinds="fc"),
    Entry("geqrf", lambda t, x: t.geqrf(x), ANY, refused=True,
          apart={"c": "PyTorch refuses complex matrices that require grad"}),
    Entry("orgqr", lambda t, x, y: x.orgqr(y), (((4, 2), (2,)),), kinds="fc"),
    *(Entry(f"ormqr left={left} transpose={transpose}",
            lambda t, x, y, z, left=left, transpose=transpose: t.ormqr(x, y, z if left else z.mT, left, transpose),
            (((4, 2), (2,), (4, 3)), ((2, 3, 2), (2, 2), (2, 3, 1))), kinds="fc", no_tangent=NO_FORWARD)
      for left in (True, False) for transpose in (False, True)),
]
def empty(name: str, shapes: tuple[Shapes, ...], call: Callable[..., Any] | None = None) -> Entry:
    """The function of torch.linalg of empty matrices, or of an empty stack of them."""
    plain = lambda t, *inputs: getattr(t.linalg, name)(*inputs)  # noqa: E731
    return Entry(f"linalg.{name} of nothing", call or plain, shapes, kinds="fc", apart=EMPTY)


NONE: tuple[Shapes, ...] = (((0, 0),), ((2, 0, 0),), ((0, 2, 2),))
NOTHING: tuple[Shapes, ...] = (*NONE, ((0, 2),), ((2, 3, 0),), ((0, 2, 3),))
FOR_NONE: tuple[Shapes, ...] = (((0, 0), (0, 2)), ((3, 3), (3, 0)), ((0, 2, 2), (0, 2, 1)))
OF_NOTHING = [
    *(empty(name, NONE) for name in ("det", "slogdet", "inv", "cholesky", "eigh", "eigvalsh", "eig", "eigvals")),
    *(empty(name, NOTHING) for name in ("pinv", "svd", "svdvals", "qr", "lu", "lu_factor")),
    empty("solve", FOR_NONE),
    empty("lstsq", (((0, 2), (0, 1)), ((2, 0), (2, 1)))),
    empty("solve_triangular", FOR_NONE, lambda t, x, y: t.linalg.solve_triangular(x, y, upper=True)),
    empty("lu_solve", FOR_NONE, lambda t, x, y: t.linalg.lu_solve(*t.linalg.lu_factor(regular(t, x)), y)),
    empty("householder_product", (((3, 0), (0,)), ((0, 3, 2), (0, 2)), ((0, 0), (0,)))),
]
MATRIX_FACTORS = [*OF_NOTHING, *DETERMINANTS, *SOLVING, *DECOMPOSITIONS]
