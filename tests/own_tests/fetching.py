"""Finds the tests of PyTorch, or fetches them: from the release archive, or from Debian's source package.

The archive goes to `build/`, and nothing of it is changed. No step needs the rights of an administrator.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import urllib.request
from pathlib import Path
from shutil import which

from .suites import VERSION

ROOT = Path(__file__).parents[2]
_PLACE = ROOT / "build" / "pytorch-tests"
_RELEASE = f"https://github.com/pytorch/pytorch/releases/download/v{VERSION}/pytorch-v{VERSION}.tar.gz"
_DEBIAN = ("bookworm", "pytorch", "1.13.1+dfsg-4", "pytorch_1.13.1+dfsg.orig.tar.xz")


def tests() -> Path:
    """The folder `test` of PyTorch's source: that of `$PYTORCH_SOURCE`, or a fetched one."""
    given = os.environ.get("PYTORCH_SOURCE")
    if given:
        return _checked(Path(given) / "test")
    found = [folder for folder in _PLACE.glob("*/test") if (folder / "test_autograd.py").exists()]
    if not found:
        _PLACE.mkdir(parents=True, exist_ok=True)
        _unpack(_from_release() or _from_debian())
        found = [*_PLACE.glob("*/test")]
    return _checked(found[0])


def _checked(folder: Path) -> Path:
    if not (folder / "test_autograd.py").exists():
        raise SystemExit(f"there are no tests of PyTorch in {folder}")
    return folder


def _from_release() -> Path | None:
    """The archive of PyTorch's release; None if it cannot be fetched."""
    archive = _PLACE / Path(_RELEASE).name
    try:
        print(f"fetching {_RELEASE}", flush=True)
        with urllib.request.urlopen(_RELEASE, timeout=30) as answer:
            archive.write_bytes(answer.read())
    except OSError as error:
        print(f"  {error}")
        return None
    return archive


def _from_debian() -> Path:
    """The archive in Debian's source package, fetched by apt with lists of its own."""
    suite, package, version, archive = _DEBIAN
    if which("apt-get") is None:
        raise SystemExit(f"PyTorch's release cannot be fetched here, and there is no apt-get. Unpack PyTorch {VERSION} "
                         "and name its folder in $PYTORCH_SOURCE.")
    print(f"fetching {package} {version} of Debian {suite}", flush=True)
    settings = _apt_settings(suite)
    environment = {**os.environ, "APT_CONFIG": str(settings)}
    _run(["apt-get", "update", "-q"], environment)
    # apt ends with an error if the small archive beside the source is gone from the mirror.
    subprocess.run(["apt-get", "source", "--download-only", f"{package}={version}"], cwd=_PLACE, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if not (_PLACE / archive).exists():
        raise SystemExit(f"apt-get has not fetched {archive}")
    return _PLACE / archive


def _apt_settings(suite: str) -> Path:
    """A configuration of apt that knows the sources of one release, at the mirror that apt uses anyway."""
    shown = _run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], dict(os.environ))
    mirror = sorted({line for line in shown.splitlines() if "security" not in line})[0]
    keys = next(iter(sorted(Path("/usr/share/keyrings").glob("debian-archive-keyring.*"))))
    for folder in ("lists/partial", "cache/archives/partial", "parts"):
        (_PLACE / folder).mkdir(parents=True, exist_ok=True)
    (_PLACE / "debian.sources").write_text(
        f"Types: deb-src\nURIs: {mirror}\nSuites: {suite}\nComponents: main\nSigned-By: {keys}\n")
    settings = _PLACE / "apt.conf"
    settings.write_text(
        f'Dir::Etc::sourcelist "{_PLACE}/debian.sources";\nDir::Etc::sourceparts "{_PLACE}/parts";\n'
        f'Dir::State::Lists "{_PLACE}/lists";\nDir::Cache "{_PLACE}/cache";\nAPT::Sandbox::User "";\n')
    return settings


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=_PLACE, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _unpack(archive: Path) -> None:
    """Unpack the folders of tests alone."""
    with tarfile.open(archive) as files:
        wanted = [member for member in files if {"test", "functorch"} & {*Path(member.name).parts[1:2]}]
        files.extractall(_PLACE, wanted, filter="data")
