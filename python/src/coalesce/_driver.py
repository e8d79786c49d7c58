"""The simulator's driver: loaded into this process in the place of NVIDIA's."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent / "bin" / "coalesce"
LIBRARY = PROGRAM.parent / "libcoalesce_driver.so"

#: Bytes of a message of the driver.
ROOM = 1000

_driver: Driver | None = None


class CoalesceError(RuntimeError):
    """The simulator cannot do what was asked, in a line."""


class Driver:
    """The driver in this process, and a folder for what it leaves."""

    def __init__(self) -> None:
        """Load the driver, and set what programs look for."""
        #: The GPU of the recordings.
        self.device: str | None = None
        for loaded in _loaded():
            if not loaded.endswith(LIBRARY.name):
                advice = "call coalesce.activate() before the first CUDA call"
                raise CoalesceError(f"{loaded} is loaded already: {advice}")
        numba = getattr(sys.modules.get("numba.cuda.cudadrv.driver"), "driver", None)
        if getattr(numba, "initialization_error", None):
            raise CoalesceError(
                "numba.cuda was imported before, without a driver: call coalesce.activate() first"
            )
        self.folder = Path(tempfile.mkdtemp(prefix="coalesce-"))
        # Unlike those of atexit, it is called in processes of multiprocessing, too.
        Finalize(None, shutil.rmtree, args=(self.folder, True), exitpriority=0)
        variables = run("env", "--for", "github", "--folder", str(self.folder)).splitlines()
        for name, _, value in (line.partition("=") for line in variables):
            os.environ[name] = value
        # Older versions of numba look for no other.
        os.environ["NUMBA_CUDA_DRIVER"] = str(self.folder / "libcuda.so.1")
        try:
            # By its path; whoever then asks for `libcuda.so.1` gets it by that name.
            self.library = ctypes.CDLL(str(self.folder / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
            # The same for the runtime library, which cuda-python looks for.
            for runtime in sorted(self.folder.glob("libcudart.so.*")):
                ctypes.CDLL(str(runtime))
            self._begin = self.library.coalesce_record_begin
            self._end = self.library.coalesce_record_end
        except (OSError, AttributeError) as error:
            raise CoalesceError(f"the simulator's driver cannot be loaded: {error}") from None
        self._begin.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        self._end.argtypes = []

    def begin(self, settings: dict[str, str]) -> None:
        """Begin a recording with these settings, beside those of the environment."""
        usual = os.environ.get("COALESCE_DEVICE", "")
        device = settings.get("COALESCE_DEVICE") or self.device or usual or "hopper"
        settings = {**settings, "COALESCE_DEVICE": device}
        lines = []
        for name, value in settings.items():
            if any(c in value for c in "\n\r\0"):
                raise CoalesceError(f"{name}: {value!r} is more than a line")
            lines.append(f"{name}={value}")
        problem = ctypes.create_string_buffer(ROOM)
        # The driver reads it at its first call, for the process.
        os.environ["COALESCE_DEVICE"] = device
        status = self._begin("\n".join(lines).encode(), problem, ROOM)
        os.environ["COALESCE_DEVICE"] = usual
        if status:
            why = problem.value.decode(errors="replace") or f"status {status}"
            raise CoalesceError(f"cannot record: {why}")
        self.device = device

    def end(self) -> None:
        """End the recording that was begun last."""
        self._end()


def activate() -> None:
    """Make the simulator this process's CUDA driver. `record` does it, too.

    The driver is loaded once per process, before the first CUDA call; numba, Triton, cuda-python
    and tinygrad find it then. So do programs that this process starts.

    Raises `CoalesceError` if another driver is loaded already.
    """
    active()


def active() -> Driver:
    """Return the driver, which is loaded at the first call."""
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


def run(*arguments: str) -> str:
    """Run the program `coalesce`. Returns its output."""
    done = call(*arguments)
    if done.returncode:
        raise CoalesceError(done.stderr.strip().removeprefix("error: "))
    return done.stdout


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program `coalesce`, whatever its exit code."""
    _library()
    try:
        return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True)
    except (OSError, ValueError) as error:
        raise CoalesceError(f"{PROGRAM} cannot be run: {error}") from None


def main() -> NoReturn:
    """Become the program `coalesce`."""
    _library()
    try:
        os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"error: {PROGRAM} cannot be run: {error}")


def _library() -> None:
    """Name the wheel's driver: a clone may have another."""
    os.environ.setdefault("COALESCE_LIBRARY", str(LIBRARY))


def _loaded() -> list[str]:
    """Return the paths of the CUDA drivers in this process."""
    names = ("libcuda.so", LIBRARY.name)
    with open("/proc/self/maps") as maps:
        paths = {line.rstrip("\n").partition("/")[2] for line in maps}
    return sorted(f"/{path}" for path in paths if path.rpartition("/")[2].startswith(names))
