"""The tools around a computation do the same with both packages."""

from comparing.programs import same


def test_pytrees_are_taken_apart_in_the_same_way() -> None:
    same("pytrees.py", lines=100)
