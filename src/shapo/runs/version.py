"""Which shapo runs, and with what: its release, the commit if that can be told, the packages it uses.

Looked up once: it takes milliseconds each, and what runs does not change while it does.
"""

import functools
import importlib.metadata
import json
import subprocess
from typing import Any
from urllib.parse import unquote, urlparse


@functools.cache
def installed(package: str) -> str | None:
    """Its version, as `pip` calls it; None if it is not here."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def release() -> str:
    """Of shapo itself, which is here."""
    found = installed("shapo")
    assert found is not None
    return found


@functools.cache
def commit() -> str:
    """Of the code that runs; empty if nobody knows, because it was installed as a release or from a mere folder."""
    origin = importlib.metadata.distribution("shapo").read_text("direct_url.json")
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
