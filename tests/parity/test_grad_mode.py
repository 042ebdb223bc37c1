"""Programs that switch recording off and on say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "grad modes": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        on = torch.is_grad_enabled
        with torch.no_grad():
            print(on(), (x * 2).requires_grad)
            with torch.enable_grad():
                print(on())
            print(on())
        @torch.no_grad()
        def parenthesised():
            "text"
            return on()
        @torch.no_grad
        def bare():
            return on()
        @torch.set_grad_enabled(False)
        def set_off():
            return on()
        @torch.no_grad()
        def deep(n):
            return [on()] + (deep(n - 1) if n else [])
        print(parenthesised(), bare(), set_off(), deep(2), parenthesised.__name__, parenthesised.__doc__, on())
        torch.set_grad_enabled(False)
        print(on())
        torch.set_grad_enabled(True)
        print(on())
        switch = torch.set_grad_enabled(False)
        print(on())
        with switch:
            print(on())
        print(on())
        torch.set_grad_enabled(True)
        try:
            with torch.no_grad():
                raise ValueError
        except ValueError:
            print(on())
        attempt(lambda: torch.set_grad_enabled())
        attempt(lambda: torch.set_grad_enabled(1))
        print(on())
    """,
    "generators under a grad mode": """
        on = torch.is_grad_enabled
        @torch.no_grad()
        def talk():
            try:
                got = yield on()
                print("got", got, on())
                yield on()
            except ValueError as error:
                print("caught", error, on())
                yield "after"
            finally:
                print("finally", on())
        g = talk()
        print(next(g), on(), g.send(5), on())
        g.close()
        g = talk()
        next(g)
        print(g.throw(ValueError("thrown")), on())
        attempt(lambda: list(g))
        @torch.no_grad()
        def returning():
            yield 1
            return 7
        def outer():
            print("returned", (yield from returning()))
        print(list(outer()))
        @torch.no_grad()
        def failing():
            yield 1
            raise KeyError("k")
        g = failing()
        next(g)
        attempt(lambda: next(g))
        print(on())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
