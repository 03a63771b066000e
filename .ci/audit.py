"""Audit locked packages for known vulnerabilities, where an index that knows them can be asked.

Exits 1 if there are any. An index that cannot be reached, is too slow or knows nothing of them is
a word, and no failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

AUDIT_SECONDS = 120


def skipped(why: str) -> int:
    """Say why nothing was audited."""
    print(f"Skipped: {why}")
    return 0


def main(lock: str) -> int:
    """Audit the packages of a lock file; return the exit status."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ["--disable-pip", "--no-deps", "--progress-spinner=off", "--format=json"]
    try:
        audit = subprocess.run(
            [program, *options, "--timeout=5", "-r", lock],
            capture_output=True, text=True, timeout=AUDIT_SECONDS, check=False,
        )  # fmt: skip
        packages = json.loads(audit.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return skipped("the index of packages cannot be reached.")
    known = [package for package in packages if "vulns" in package]
    if not known:
        return skipped("this index of packages knows nothing of vulnerabilities.")
    vulnerable = [package for package in known if package["vulns"]]
    for package in vulnerable:
        ids = ", ".join(found["id"] for found in package["vulns"])
        print(f"{package['name']} {package['version']}: {ids}", file=sys.stderr)
    print(f"Audited {len(known)} of {len(packages)} packages; {len(vulnerable)} are vulnerable.")
    return int(bool(vulnerable))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
