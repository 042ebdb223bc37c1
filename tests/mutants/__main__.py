"""Plants a seeded sample of faults, one at a time, and tells which of them the tests notice.

    python -m mutants --count 168 --seed 0          # from the folder tests/, or as `make mutants`

The report names each fault that no test noticed, with its text. What is in `survivors.txt` was looked at before: such a
fault changes only the speed or nothing, and the file says why.

The folder `build/mutants` keeps which tests call which functions, and which test noticed which fault. So a run that was
interrupted goes on quickly. Remove the folder after a change to tests, so that the next run knows the new tests.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from mutants.covering import Map
from mutants.faults import Fault, faults_of
from mutants.running import ROOT, Copy, in_order

AREAS = ("graph", "ops", "tensors/recording", "tensors/functions", "kernels", "nn", "optim")
KINDS = ("unit", "parity")
GOAL = 0.95


def sample(count: int, seed: int, areas: Sequence[str] = AREAS) -> list[Fault]:
    """As many faults from each area, and in each area from each kind as far as there are, chosen by chance.

    The chance of a fault depends on its text alone, so a change elsewhere in the source leaves most of the sample.
    """
    package = ROOT / "src" / "retrograd"
    chosen = []
    for area in areas:
        kinds: dict[str, list[Fault]] = defaultdict(list)
        for file in sorted((package / area).rglob("*.py")):
            for fault in faults_of(package, str(file.relative_to(package))):
                kinds[fault.kind].append(fault)
        for found in kinds.values():
            found.sort(key=lambda fault: sha256(f"{seed} {fault.key}".encode()).digest())
        for place in range(count // len(areas)):
            names = [kind for kind in sorted(kinds) if kinds[kind]]
            chosen.append(kinds[names[place % len(names)]].pop())
    return chosen


def known_survivors() -> dict[str, str]:
    """The faults that make no difference, by their entries, each with the reason."""
    lines = (Path(__file__).parent / "survivors.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.partition("  # ") for line in lines if line and not line.startswith("#"))
    return {key: reason for key, _, reason in entries}


def covering(copy: Copy, kept: Path, kind: str) -> Map:
    """Which functions each test calls: made once, by running the tests, and kept in a file."""
    file = kept / f"{kind}.pickle"
    if not file.exists():
        print(f"noting what the tests in tests/{kind} call", flush=True)
        done = copy.pytest("-p", "mutants.covering", f"--covering={file}", f"tests/{kind}")
        print((done.stdout + done.stderr)[-500:], flush=True)
    found: Map = pickle.loads(file.read_bytes())
    return found


def outcome(copy: Copy, maps: dict[str, Map], fault: Fault, noticed: Noticed) -> tuple[str, str]:
    """Which kind of tests notices a fault, and the test; "" if none does."""
    for kind, map in maps.items():
        failure = copy.first_failure(fault, [noticed.by(fault, map), *in_order(map, fault)])
        if failure:
            noticed.note(fault, failure)
            return kind, failure
    return "", ""


class Noticed:
    """Which test noticed which fault in earlier runs, kept in a file: this test runs first, so another run is short."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def _tests(self) -> dict[str, str]:
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def by(self, fault: Fault, map: Map) -> list[str]:
        """The test that noticed a fault, if the test is among those of the map."""
        test = self._tests().get(fault.entry)
        return [name for name, _ in map.tests if name == test]

    def note(self, fault: Fault, test: str) -> None:
        written = self.file.with_suffix(f".{os.getpid()}")      # another run may read the file meanwhile
        written.write_text(json.dumps(self._tests() | {fault.entry: test}, indent=0), encoding="utf-8")
        written.replace(self.file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=168, help="how many faults (default: 168)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (default: 0)")
    parser.add_argument("--only", default="", help="only faults in files whose path contains this")
    parser.add_argument("--share", default="0/1", help="of several runs at once the first of two is 0/2")
    parser.add_argument("--tests", nargs="+", default=KINDS, choices=KINDS, help="which tests run (default: both)")
    parser.add_argument("--kept", type=Path, default=ROOT / "build" / "mutants", help="where the maps are kept")
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    which, of = map(int, options.share.split("/"))
    faults = [fault for fault in sample(options.count, options.seed) if options.only in fault.path][which::of]
    known, counts, new = known_survivors(), Counter[str](), []
    memory = Noticed(options.kept / "noticed.json")
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        maps = {kind: covering(copy, options.kept, kind) for kind in options.tests}
        for i, fault in enumerate(faults):
            start = time.monotonic()
            kind, test = ("known", known[fault.entry]) if fault.entry in known else outcome(copy, maps, fault, memory)
            counts[kind] += 1
            if not kind:
                new.append(fault)
            print(f"{i + 1}/{len(faults)} {kind or 'SURVIVED'} ({time.monotonic() - start:.0f} s) {fault.kind} in "
                  f"{fault.path}:{fault.line}\n    {fault.old!r}\n    {fault.new!r}\n    {test}", flush=True)
    noticed, judged = counts["unit"] + counts["parity"], len(faults) - counts["known"]
    print(f"\n{len(faults)} faults: {counts['unit']} noticed by tests/unit, {counts['parity']} by tests/parity, "
          f"{counts['known']} known to change no result, {counts['']} survived")
    print(f"of those that change a result {noticed}/{judged} noticed")
    for fault in new:
        print(f"  {fault.entry}")
    return int(noticed < GOAL * judged)


if __name__ == "__main__":
    sys.exit(main())
