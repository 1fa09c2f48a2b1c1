"""What numbers come from besides the choices made: which shapo, which packages, which kind of processor.

What takes milliseconds is looked up once: what runs does not change while it does.
"""

import functools
import importlib.metadata
import json
import subprocess
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse

from shapo.processor import arithmetic, kind

UNKNOWN = "unknown"
"""The version of a shapo that was not recorded, or that runs from its sources without having been installed."""
PACKAGES = ("jax", "jaxlib", "numpy", "mujoco", "numba", "gymnasium", "optax")


class Provenance(NamedTuple):
    """Where a run comes from; what is empty was not recorded."""

    version: str
    """Of shapo."""
    commit: str
    packages: Mapping[str, str | None]
    processor: str
    """Its kind, as LLVM calls it."""
    arithmetic: str
    """Whose instructions made the numbers: common ones, or this kind's own."""

    @property
    def versions(self) -> dict[str, str | None]:
        """Of shapo and what it uses, by name."""
        return {"shapo": self.version, **self.packages}

    @property
    def decisive(self) -> dict[str, str | None]:
        """All that the last bits of a number depend on, and so, after some updates, the first ones."""
        if self.arithmetic:
            return {**self.versions, "arithmetic": self.arithmetic}
        return {**self.versions, "processor": self.processor}

    @property
    def known(self) -> dict[str, str | None]:
        """All there is to compare with what was decisive elsewhere."""
        return {**self.versions, "processor": self.processor, "arithmetic": self.arithmetic}


def here() -> Provenance:
    """Of a run that begins now."""
    packages = {name: installed(name) for name in PACKAGES}
    return Provenance(release(), commit(), packages, kind(), arithmetic())


def provenance_of(config: Mapping[str, Any]) -> Provenance:
    """What the content of a `config.json` says, which anybody may have written."""
    packages = config.get("packages")
    return Provenance(
        str(config.get("version", UNKNOWN)),
        str(config.get("commit", "")),
        {str(k): v for k, v in packages.items()} if isinstance(packages, dict) else {},
        str(config.get("processor", "")),
        str(config.get("arithmetic", "")),
    )


def unlike(then: Mapping[str, str | None], now: Mapping[str, str | None]) -> str:
    """What was not as it is now, "jax 0.9, this is jax 0.10"; empty if nothing is known to have been."""
    changed = [name for name in then if then[name] != now.get(name) and then[name] != ""]
    said = [", ".join(f"{name} {each.get(name)}" for name in changed) for each in (then, now)]
    return ", this is ".join(said) if changed else ""


@functools.cache
def installed(package: str) -> str | None:
    """Its version, as `pip` calls it; None if it is not here."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def release() -> str:
    """Of shapo itself."""
    return installed("shapo") or UNKNOWN


@functools.cache
def commit() -> str:
    """Of the code that runs; empty if nobody knows: of a release, a mere folder, or what was not installed at all."""
    try:
        origin = importlib.metadata.distribution("shapo").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return commit_of(json.loads(origin or "{}"))


def commit_of(origin: dict[str, Any]) -> str:
    """The commit of what was installed from there (pip's `direct_url.json`).

    A work tree that is used where it lies answers for itself, with "-dirty" if it is not as it was committed.
    """
    if known := origin.get("vcs_info", {}).get("commit_id"):
        return known
    if not origin.get("dir_info", {}).get("editable"):
        return ""
    folder = unquote(urlparse(origin["url"]).path)
    command = ["git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
