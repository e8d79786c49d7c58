"""Builds the driver, the stand-ins and the program with cargo, and puts them into the wheel."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ["coalesce", "coalesce-ptxas"]
LIBRARIES = ["libcoalesce_driver.so", "libcoalesce_cudart.so"]


class CargoBuild(BuildHookInterface):  # type: ignore[type-arg]
    """Adds what cargo builds of the clone around this folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, or with `COALESCE_BUILT` take what a debug build has left, as tests do."""
        clone = Path(self.root).parent
        is_built = bool(os.environ.get("COALESCE_BUILT"))
        if not is_built:
            # Tables of lines, for backtraces, are three quarters of the files.
            small = ["--config", "profile.release.debug=false"]
            cargo(clone, "build", "--release", "--package", "coalesce", *small)
        metadata = json.loads(cargo(clone, "metadata", "--format-version", "1", "--no-deps"))
        built = Path(metadata["target_directory"]) / ("debug" if is_built else "release")
        # cargo copies libraries out of `deps` only if they are asked for.
        files = [built / name for name in PROGRAMS] + [built / "deps" / name for name in LIBRARIES]
        for file in files:
            build_data["force_include"][str(file)] = f"coalesce/bin/{file.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"


def cargo(clone: Path, *arguments: str) -> bytes:
    """Run cargo in the clone. Returns its output."""
    try:
        return subprocess.run(
            ["cargo", *arguments], cwd=clone, check=True, stdout=subprocess.PIPE
        ).stdout
    except OSError as error:
        raise SystemExit(f"error: cargo cannot be run ({error}): install Rust") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"error: `cargo {' '.join(arguments)}` failed, see above") from None
