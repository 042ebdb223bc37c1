"""torch._six: names from the days of Python 2."""

inf, nan = float("inf"), float("nan")
string_classes = (str, bytes)
