"""Writes the scores by suite into the page, and the tests that do not pass with the reason of each."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import version

from .running import Outcome
from .suites import VERSION, reason

_BEGIN, _END = "<!-- scores -->\n", "<!-- end of scores -->\n"
Scores = dict[str, dict[str, Outcome]]


def written(text: str, scores: Scores) -> str:
    """The page with these scores in the place of those before. Raises ValueError for a test without a reason."""
    others = _others(scores)
    before, rest = text.split(_BEGIN)
    return f"{before}{_BEGIN}{_table(scores)}\n{others}{_END}{rest.split(_END)[1]}"


def _table(scores: Scores) -> str:
    rows = [(suite, sum([o.status == "pass" for o in found.values()]), len(found)) for suite, found in scores.items()]
    rows.append(("all", sum([row[1] for row in rows]), sum([row[2] for row in rows])))
    lines = [f"The tests of PyTorch {VERSION}, with PyTorch {version('torch').partition('+')[0]} and retrograd "
             f"{version('retrograd')}:", "", "| suite | passed by PyTorch | and by retrograd | |", "|---|---|---|---|"]
    lines += [f"| {suite} | {count:,} | {passed:,} | {100 * passed / count:.1f} % |" for suite, passed, count in rows]
    return "\n".join(lines) + "\n"


def _others(scores: Scores) -> str:
    """The tests that do not pass, by reason."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for found in scores.values():
        for test, outcome in found.items():
            if outcome.status != "pass":
                why = reason("reasons.txt", test)
                if why is None:
                    raise ValueError(f"reasons.txt has no reason for {test}: {outcome.why}")
                by_reason[why].append(test.rpartition("::")[2])
    lines = ["The others, by reason:", ""]
    for why, names in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        shown = f"{len(names)} tests, such as `{names[0]}`" if len(names) > 5 else ", ".join(f"`{n}`" for n in names)
        lines.append(f"- {why} ({shown})")
    return "\n".join(lines) + "\n" * 2
