"""Special functions, without PyTorch: values computed with 40 digits, identities, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import retrograd as torch

VALUES: dict[str, list[tuple[tuple[float, ...], float]]] = {
    "lgamma": [
        ((1e-30,), 69.07755278982137), ((0.3,), 1.0957979948180756), ((0.999,), 0.0005780385328913802),
        ((1.5,), -0.12078223763524522), ((2.001,), 0.000423106734800117), ((7.5,), 7.534364236758733),
        ((9.99,), 12.779315214350193), ((150.0,), 600.0094705553274), ((10000000000.0,), 220258509288.81058),
        ((-0.7,), 1.4524729387568078), ((-5.3,), -3.950677648275019),
    ],
    "digamma": [
        ((1e-08,), -100000000.57721564), ((0.3,), -3.502524222200133), ((1.0,), -0.5772156649015329),
        ((5.5,), 1.6110931485817512), ((12.0,), 2.442661679975812), ((1000000.0,), 13.815510057964191),
        ((-0.7,), -2.073952793628704), ((-5.3,), 4.041590845410028),
    ],
    "special.i0": [
        ((0.5,), 1.0634833707413236), ((7.9,), 389.406283282158), ((8.1,), 469.5006067101215),
        ((-50.0,), 2.9325537838493362e+20),
    ],
    "special.i0e": [
        ((0.5,), 0.6450352704491501), ((8.1,), 0.14251180948829528), ((-500.0,), 0.017845706500153168),
    ],
    "special.i1": [
        ((1e-10,), 5e-11), ((0.5,), 0.2578943053908963), ((7.9,), 363.8539440845084), ((8.1,), 439.48430891035844),
        ((-50.0,), -2.903078590103557e+20),
    ],
    "special.i1e": [
        ((0.5,), 0.1564208031848717), ((8.1,), 0.13340068832583662), ((-500.0,), -0.017827851852898056),
    ],
    "special.modified_bessel_k0": [
        ((1e-10,), 23.14178244559887), ((0.5,), 0.9244190712276659), ((1.99,), 0.1153017675517768),
        ((2.01,), 0.11250436099872804), ((50.0,), 3.4101677497894956e-23),
    ],
    "special.modified_bessel_k1": [
        ((1e-10,), 10000000000.0), ((0.5,), 1.656441120003301), ((1.99,), 0.14171756162240132),
        ((2.01,), 0.1380408773192077), ((50.0,), 3.4441022267175555e-23),
    ],
    "special.scaled_modified_bessel_k0": [
        ((0.5,), 1.5241093857739094), ((2.01,), 0.8396557490908678), ((500.0,), 0.056035915417234516),
    ],
    "special.scaled_modified_bessel_k1": [
        ((0.5,), 2.731009708211786), ((2.01,), 1.0302428743356034), ((500.0,), 0.05609192337055557),
    ],
    "special.bessel_j0": [
        ((0.5,), 0.9384698072408129), ((2.4,), 0.002507683297243859), ((-5.25,), -0.09308098963931788),
        ((7.99,), 0.17399001312793258), ((8.01,), 0.16929736911054297), ((100.5,), 0.054436573814413594),
        ((10000000000.0,), 2.175591750246892e-06),
    ],
    "special.bessel_j1": [
        ((1e-10,), 5e-11), ((0.5,), 0.2422684576748739), ((3.8,), 0.0128210029267317),
        ((-5.25,), 0.34501397857943766), ((7.99,), 0.23320071425350178), ((8.01,), 0.236047103630834),
        ((100.5,), -0.05779112399693202),
    ],
    "special.bessel_y0": [
        ((1e-10,), -14.732516272697241), ((0.5,), -0.44451873350670656), ((5.25,), -0.33477723515498115),
        ((7.99,), 0.22192874178576452), ((8.01,), 0.22508990929357914), ((100.5,), -0.05806122757035575),
    ],
    "special.bessel_y1": [
        ((1e-10,), -6366197723.675814), ((0.5,), -1.471472392670243), ((5.25,), 0.061861000898943724),
        ((7.99,), -0.16048695141166464), ((8.01,), -0.15562145403809824), ((100.5,), -0.05472610209468349),
    ],
    "special.spherical_bessel_j0": [
        ((1e-09,), 1.0), ((0.3,), 0.9850673555377986), ((-10.0,), -0.05440211108893698),
    ],
    "special.airy_ai": [
        ((-30.0,), -0.08796818845684216), ((-2.26,), 0.05464181793214318), ((-2.24,), 0.06854164134184491),
        ((0.0,), 0.3550280538878172), ((2.24,), 0.02403491565218915), ((2.26,), 0.02327972379834297),
        ((20.0,), 1.6916728686705404e-27), ((90.0,), 5.715163408001596e-249),
    ],
    "special.erfcx": [
        ((-20.0,), 1.0442939379528289e+174), ((-1.0,), 5.008980080762283), ((0.3,), 0.7345993345676551),
        ((4.0,), 0.13699945762506138), ((50.0,), 0.011281536265323773), ((1e+100,), 5.6418958354775625e-101),
    ],
    "special.log_ndtr": [
        ((-100.0,), -5005.524208694205), ((-10.0,), -53.23128515051247), ((-1.01,), -1.8563130623431785),
        ((-0.99,), -1.8258103178428124), ((0.5,), -0.3689464152886564), ((6.0,), -9.865876455243758e-10),
    ],
    "special.ndtri": [
        ((1e-300,), -37.0470962993612), ((1e-17,), -8.493793224109599), ((0.01,), -2.326347874040841),
        ((0.1249,), -1.1508352984714385), ((0.1251,), -1.1498637337452082), ((0.4,), -0.2533471031357997),
        ((0.7,), 0.5244005127080407), ((0.9999,), 3.7190164854557084),
    ],
    "polygamma": [
        ((1, 0.3), 12.245364546107732), ((1, 12.5), 0.08328522460157838), ((1, -2.3), 14.725912160961292),
        ((2, 0.3), -75.27253658872604), ((2, -2.3), 68.71379252927031), ((3, 40.0), 3.24414001515635e-05),
        ((7, 1.5), 200.21818559806496),
    ],
    "special.zeta": [
        ((1.01, 1.0), 100.57794333849678), ((2.0, 0.1), 101.43329915079275), ((3.5, 40.0), 4.0781745099202635e-05),
        ((30.0, 0.7), 44366.870862485186), ((2.0, 1000.0), 0.0010005001666666333),
    ],
    "igamma": [
        ((0.01, 0.2), 0.9877844094567542), ((0.5, 0.3), 0.5614219739190002), ((1.0, 40.0), 1.0),
        ((3.0, 2.9), 0.5540368014428194), ((15.0, 10.0), 0.08345847293466283), ((40.0, 35.0), 0.21980955482531797),
        ((40.0, 50.0), 0.935429631078867), ((1000.0, 950.0), 0.05505468623073803),
        ((1000.0, 400.0), 9.097512748435139e-140),
    ],
    "igammac": [
        ((0.001, 0.2), 0.0012225478394732089), ((0.01, 1e-05), 0.1036632017328028), ((0.5, 0.3), 0.4385780260809999),
        ((3.0, 2.9), 0.4459631985571806), ((15.0, 30.0), 0.0009206823961486663), ((40.0, 35.0), 0.7801904451746821),
        ((40.0, 50.0), 0.06457036892113298), ((1000.0, 1100.0), 0.0010593232539299773),
    ],
}


def of_name(name: str) -> Any:
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def double(values: Any, **options: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64, **options)


@pytest.mark.parametrize("name", VALUES)
def test_values_are_right_to_the_last_digits(name: str) -> None:
    arguments, expected = zip(*VALUES[name], strict=True)
    columns = [double(column) for column in zip(*arguments, strict=True)]
    if name == "polygamma":
        found = [torch.polygamma(int(n), double([x])).item() for n, x in arguments]
    else:
        found = of_name(name)(*columns).tolist()
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-300)


def test_single_precision_is_computed_in_double() -> None:
    x = torch.tensor([0.3, 5.0, 200.0])
    for name in ("lgamma", "digamma", "special.bessel_j0", "special.erfcx", "special.i0e"):
        function = of_name(name)
        np.testing.assert_allclose(function(x).numpy(), function(x.double()).numpy().astype("float32"), rtol=1e-7)


def test_both_incomplete_gamma_functions_make_one() -> None:
    draws = np.random.default_rng(0)
    a, x = (double(10.0 ** draws.uniform(-3, 4, 2000)) for _ in range(2))
    total = torch.igamma(a, x) + torch.igammac(a, x)
    np.testing.assert_allclose(total.numpy(), 1.0, rtol=4e-15)


@pytest.mark.parametrize(("name", "at_minus_one", "at_one"), [
    ("chebyshev_polynomial_t", -1.0, 1.0), ("chebyshev_polynomial_u", -10.0, 10.0),
    ("chebyshev_polynomial_v", -19.0, 1.0), ("chebyshev_polynomial_w", -1.0, 19.0),
    ("legendre_polynomial_p", -1.0, 1.0),
])
def test_polynomials_at_their_ends_and_by_their_recurrence(name: str, at_minus_one: float, at_one: float) -> None:
    polynomial = getattr(torch.special, name)
    assert polynomial(double([-1.0, 1.0]), 9).tolist() == [at_minus_one, at_one]
    x = double(np.linspace(-0.95, 0.95, 7))
    last, before = (polynomial(x, n) for n in (11, 10))
    following = (23 * x * last - 11 * before) / 12 if name.startswith("legendre") else 2 * x * last - before
    np.testing.assert_allclose(polynomial(x, 12).numpy(), following.numpy(), atol=1e-13)


def test_degrees_of_polynomials_are_cut_and_may_differ() -> None:
    x = double([0.5, 0.5, 0.5, 0.5])
    n = double([-1.0, 0.9, 2.9, 3.0])
    assert torch.special.hermite_polynomial_he(x, n).tolist() == [0.0, 1.0, -0.75, -1.375]
    assert torch.special.shifted_chebyshev_polynomial_t(x, n).tolist() == [0.0, 1.0, -1.0, 0.0]


def test_hermite_polynomials_that_no_float_holds_are_nan() -> None:
    assert math.isnan(torch.special.hermite_polynomial_h(double([1.0]), 513).item())
    assert math.isnan(torch.special.hermite_polynomial_h(torch.ones(1), 129).item())
    assert not math.isnan(torch.special.hermite_polynomial_h(double([1.0]), 129).item())


@pytest.mark.parametrize(("call", "argument"), [
    (lambda x: torch.igamma(x, double([2.0])), "igamma: input"),
    (lambda x: torch.igammac(x, double([2.0])), "igammac: input"),
    (lambda x: torch.special.zeta(x, 2), "zeta"),
    (lambda x: torch.special.zeta(x, double([2.0])), "zeta"),
])
def test_arguments_without_a_derivative_say_so(call: Any, argument: str) -> None:
    with pytest.raises(NotImplementedError, match=f"^the derivative for '{argument}' is not implemented"):
        call(double([1.5], requires_grad=True)).sum().backward()


def test_what_pytorch_takes_for_constant_is() -> None:
    x = double([1.5], requires_grad=True)
    assert not torch.special.bessel_j0(x).requires_grad
    assert not torch.special.legendre_polynomial_p(x, 3).requires_grad


def test_exponents_below_zero_have_their_powers_in_gradients() -> None:
    """PyTorch raises an integer 2 to them, and gets 0."""
    x = double([3.0, 3.0], requires_grad=True)
    torch.ldexp(x, torch.tensor([-2, 3])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.25, 8.0]


def test_the_slope_of_log_ndtr_far_below_is_that_of_its_square() -> None:
    x = double([-1e5, -math.inf], requires_grad=True)
    torch.special.log_ndtr(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [1e5 + 1e-5, math.inf], rtol=1e-15)


def test_functions_of_numpy_are_recorded() -> None:
    x = double([0.5, 2.0], requires_grad=True)
    assert np.i0(x).grad_fn.name() == "I0Backward0"
    assert np.ldexp(x, torch.tensor([1, 2])).tolist() == [1.0, 8.0]
    assert np.nextafter(x, 3.0).grad_fn.name() == "NextafterBackward0"
    assert np.isin(torch.tensor([1, 2]), torch.tensor([2])).tolist() == [False, True]
    assert np.gcd(torch.tensor([4, 9]), 6).tolist() == [2, 3]


def test_poles_of_trigamma_are_infinite() -> None:
    assert torch.polygamma(1, double([-1.0, -2.0, 0.0])).tolist() == [math.inf] * 3


def test_polygamma_vanishes_at_infinity() -> None:
    for n in range(1, 5):
        assert torch.polygamma(n, double([math.inf])).item() == 0.0


def test_derivatives_next_to_zero() -> None:
    """Where 1 / x is not a number any more."""
    for call, slope in ((torch.special.i1, 0.5), (torch.special.i1e, 0.5), (torch.sinc, 0.0)):
        x = double([1e-310, -1e-200, 1e-20], requires_grad=True)
        call(x).sum().backward()
        assert x.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), slope, atol=1e-15)


def test_ints_beside_bytes_do_not_wrap_around_in_quotients() -> None:
    x = torch.tensor([128, 64], dtype=torch.uint8)
    assert (x / 256).tolist() == [0.5, 0.25]
    assert torch.div(x, -1).tolist() == [-128.0, -64.0]
    assert (x / np.int64(256)).tolist() == [0.5, 0.25]


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: torch.polygamma(-1, torch.ones(1)), RuntimeError, "does not support negative n"),
    (lambda: torch.polygamma(1.5, torch.ones(1)), TypeError, "argument 'n' .* must be int, not float"),
    (lambda: torch.mvlgamma(torch.ones(1), 0), RuntimeError, "p has to be greater than or equal to 1"),
    (lambda: torch.frexp(torch.tensor([1])), RuntimeError, "only supports floating-point dtypes"),
    (lambda: torch.isin(1, 2), TypeError, "invalid combination of arguments"),
    (lambda: torch.isin(torch.tensor([True]), torch.tensor([True])), RuntimeError, "Unsupported input type .* Bool"),
    (lambda: torch.fill(torch.ones(1), torch.ones(2)), RuntimeError, "0-dimension value tensor"),
    (lambda: torch.gcd(torch.ones(1), torch.ones(1)), NotImplementedError, "\"gcd_cpu\" not implemented for 'Float'"),
    (lambda: torch.ones(2).atan2_(2), TypeError, "atan2_\\(\\): argument 'other' .* must be Tensor, not int"),
    (lambda: torch.special.airy_ai(1.0), TypeError, "special_airy_ai\\(\\): argument 'x' .* must be Tensor, not float"),
    (lambda: torch.special.zeta(1, 2), TypeError, "special_zeta\\(\\) received an invalid combination"),
])
def test_what_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_the_derivative_of_zeta_by_its_second_argument() -> None:
    x = torch.tensor([2.0, 3.5], dtype=torch.float64)
    y = torch.tensor([1.5, 2.5], dtype=torch.float64, requires_grad=True)
    # zeta(3, 1.5), zeta(3, 2.5) and zeta(4.5, 2.5)
    for given, expected in ((x, [-2 * 0.41439832211716005, -3.5 * 0.021898872913893513]),
                            (2, [-2 * 0.41439832211716005, -2 * 0.11810202582086368])):
        (found,) = torch.autograd.grad(torch.special.zeta(given, y).sum(), y)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)


def test_the_logarithm_of_the_gamma_function_is_right_to_the_last_digits() -> None:
    points = np.linspace(0.01, 3.5, 400)
    expected = [math.lgamma(point) for point in points]
    np.testing.assert_allclose(torch.lgamma(torch.tensor(points)).numpy(), expected, rtol=2e-15, atol=2e-15)


@pytest.mark.parametrize(("order", "words"), [
    (1 << 40, "enforce fail at alloc_cpu.cpp:127. err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
              "allocate 4398046511104 bytes. Error code 12"),
    (1 << 62, "Storage size calculation overflowed with sizes=.4611686018427387904"),
])
def test_absurd_dimensions_of_mvlgamma_are_refused_at_once(order: int, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.mvlgamma(torch.tensor([5.0]), order)


@pytest.mark.parametrize("name", ["laguerre_polynomial_l", "legendre_polynomial_p"])
@pytest.mark.parametrize("degree", [1 << 40, torch.tensor([3, 1 << 40])], ids=["one", "several"])
def test_absurd_degrees_of_polynomials_are_refused(name: str, degree: Any) -> None:
    with pytest.raises(RuntimeError, match="the recurrence would take hours for degree 1099511627776"):
        getattr(torch.special, name)(torch.tensor([0.5, 0.25]), degree)


def test_absurd_degrees_are_computed_where_that_is_quick() -> None:
    found = torch.special.chebyshev_polynomial_t(torch.tensor([1.5, 1.0, -1.0]), 1 << 40)
    np.testing.assert_array_equal(found.numpy(), [math.nan, 1, 1])


@pytest.mark.parametrize("degree", [1, 7, 60, 5000])
def test_polynomials_of_any_degree(degree: int) -> None:
    angle = torch.linspace(0.1, 3.0, 7, dtype=torch.float64)
    found = torch.special.chebyshev_polynomial_t(angle.cos(), degree)
    assert torch.allclose(found, (degree * angle).cos(), atol=1e-9 * degree)
    second = torch.special.chebyshev_polynomial_u(angle.cos(), torch.full_like(angle, degree))
    assert torch.allclose(second * angle.sin(), ((degree + 1) * angle).sin(), atol=1e-9 * degree)
    third = torch.special.legendre_polynomial_p(torch.tensor([1.0, -1.0], dtype=torch.float64), degree)
    assert torch.allclose(third, torch.tensor([1.0, (-1.0) ** degree], dtype=torch.float64))
