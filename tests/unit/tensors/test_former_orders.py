"""Numbers that stand before the tensors they scale: PyTorch still takes these orders, and warns."""

from __future__ import annotations

import re
import warnings

import pytest

import retrograd as torch


def test_the_warning_shows_the_former_order_and_todays() -> None:
    a, b = torch.ones(2), torch.tensor([3., 4.])
    said = ("This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\nConsider using one of the "
            "following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)")
    with pytest.warns(UserWarning, match=f"^{re.escape(said)}$") as caught:
        assert a.add_(2., b) is a
    assert [each.filename for each in caught] == [__file__]
    assert a.tolist() == [7., 9.]


def test_of_all_former_orders_only_the_first_call_warns() -> None:
    torch.set_warn_always(False)
    torch.foundations.errors.Said.messages.discard("This overload is deprecated")
    a, b = torch.ones(2), torch.ones(2)
    with pytest.warns(UserWarning, match=r"^This overload of sub is deprecated:\n\tsub\(Tensor input, Number alpha, "):
        torch.sub(a, 2, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.addcmul(a, 2, b, b).tolist() == [3., 3.]
        assert torch.sub(a, 3, b).tolist() == [-2., -2.]


def test_functions_and_methods_have_orders_of_their_own() -> None:
    x, m = torch.ones(2, 2), 2 * torch.eye(2)
    with pytest.warns(UserWarning, match=r"\n\taddmm\(Number beta, Tensor input, Number alpha, Tensor mat1, "):
        assert torch.addmm(3, x, 10, m, m).tolist() == [[43., 3.], [3., 43.]]
    with pytest.warns(UserWarning, match=r"\n\taddmm\(Number beta, Tensor input, Tensor mat1, Tensor mat2, \*"):
        assert torch.addmm(3, x, m, m).tolist() == [[7., 3.], [3., 7.]]
    with pytest.warns(UserWarning, match=r"\n\taddmm\(Number beta, Number alpha, Tensor mat1, Tensor mat2\)\n"):
        assert x.addmm(3, 10, m, m).tolist() == [[43., 3.], [3., 43.]]
    with pytest.warns(UserWarning, match=r"\n\taddmm_\(Number beta, Tensor mat1, Tensor mat2\)\n.*\n\taddmm_\(Tens"):
        assert x.addmm_(3, m, m).tolist() == [[7., 3.], [3., 7.]]


def test_gradients_and_out_are_those_of_todays_order() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.tensor([3., 4.], requires_grad=True)
    with pytest.warns(UserWarning, match="^This overload of addcdiv is deprecated"):
        result = torch.addcdiv(a, .5, b, b)
    result.sum().backward()
    assert result.grad_fn.name() == "AddcdivBackward0"
    assert a.grad is not None
    assert a.grad.tolist() == [1., 1.]
    out = torch.empty(2)
    with pytest.warns(UserWarning, match="^This overload of add is deprecated"):
        assert torch.add(a.detach(), 2, b.detach(), out=out) is out
    assert out.tolist() == [7., 9.]


@pytest.mark.parametrize("call", [
    lambda a: torch.add(a, a, 2), lambda a: torch.add(a, 2, a, alpha=3), lambda a: torch.add(a, 2, a, other=a),
    lambda a: torch.addcmul(a, a, a, .5), lambda a: torch.addmv(a, 2, 3), lambda a: torch.mul(a, 2, a)])
def test_other_orders_are_refused(call: object) -> None:
    with pytest.raises(TypeError, match=r"^(add|addcmul|addmv|mul)\(\)"):
        call(torch.ones(2))  # type: ignore[operator]
