"""`python -m own_tests`: run PyTorch's own tests with PyTorch and with retrograd, and write the scores into a page."""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path

from .fetching import ROOT, tests
from .page import written
from .running import Outcome, outcomes
from .suites import SUITES

# What PyTorch itself passes, by suite, so that a second run need not ask it again.
_KNOWN = ROOT / "build" / "pytorch-tests" / f"passed-{version('torch')}.json"


def passed_by_pytorch(folder: Path, suites: list[str]) -> dict[str, list[str]]:
    """The tests of each suite that PyTorch passes: those that count."""
    known: dict[str, list[str]] = json.loads(_KNOWN.read_text()) if _KNOWN.exists() else {}
    for suite in suites:
        if suite not in known:
            print(f"{suite} with PyTorch", flush=True)
            found = outcomes("torch", suite, folder)
            known[suite] = [test for test, outcome in found.items() if outcome.status == "pass"]
            _KNOWN.parent.mkdir(parents=True, exist_ok=True)
            _KNOWN.write_text(json.dumps(known))
    return {suite: known[suite] for suite in suites}


def main() -> None:
    """Run the suites that the arguments name, or all."""
    parser = argparse.ArgumentParser(prog="own_tests", description=__doc__)
    parser.add_argument("suites", nargs="*", default=[*SUITES], metavar="SUITE", help="; ".join(SUITES))
    parser.add_argument("-k", dest="only", default="", help="a part of the names of the tests to run")
    parser.add_argument("--page", type=Path, help="the page to write the scores into")
    given = parser.parse_args()
    folder = tests()
    counting = passed_by_pytorch(folder, given.suites)
    scores: dict[str, dict[str, Outcome]] = {}
    for suite in given.suites:
        print(f"{suite} with retrograd", flush=True)
        found = outcomes("retrograd", suite, folder, given.only)
        scores[suite] = {test: found.get(test, Outcome("error", "there is no such test"))
                         for test in counting[suite] if given.only in test}
        for test, outcome in scores[suite].items():
            if outcome.status != "pass":
                print(f"  {outcome.status} {test}\n    {outcome.why}")
        print(f"  {sum([o.status == 'pass' for o in scores[suite].values()])} of {len(scores[suite])}")
    if given.page:
        given.page.write_text(written(given.page.read_text(encoding="utf-8"), scores), encoding="utf-8")


if __name__ == "__main__":
    main()
