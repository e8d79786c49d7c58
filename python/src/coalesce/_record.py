"""Recording the launches of a block."""

from __future__ import annotations

import os
import tempfile
from types import TracebackType

from ._driver import CoalesceError, active
from ._launches import Launches


class record:
    """Run what is launched in a `with` block on the simulator, and record it.

    check: the faults to look for: "all", some of "memory,init,race,sync,undefined", or "".
    device: "sim" counts without caches; "sim:MODEL" or "MODEL" ("hopper", "ampere", ...) with that
        GPU's caches and times; None: as the environment says, else "sim". A process has one GPU.
    predict: predict the time of each launch.
    fault: what an access out of bounds does: "continue" skips it, "stop" fails the launch, "defer"
        the next synchronisation.
    schedules: run each launch in so many other orders, too, drawn from `seed`, and compare.
    only: check and record this kernel alone.

    A block records the launches of all threads. Launches in a block within it are that block's.
    """

    def __init__(
        self,
        *,
        check: str = "all",
        device: str | None = None,
        predict: bool = True,
        fault: str = "continue",
        schedules: int = 0,
        seed: int = 1,
        only: str | None = None,
    ) -> None:
        """Note the settings; the driver checks them when the block begins."""
        texts = {"check": check, "fault": fault, "device": device or "", "only": only or ""}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(f"{name}: give a str, not {type(text).__name__}")
        for name, count in {"schedules": schedules, "seed": seed}.items():
            if not isinstance(count, int) or not 0 <= count < 1 << 64:
                raise TypeError(f"{name}: give a whole number from 0, not {count!r}")
        self._settings = {
            "COALESCE_CHECK": check,
            "COALESCE_FAULT": fault,
            "COALESCE_PREDICT": "always" if predict else "never",
            "COALESCE_REQUESTS": "1",
            "COALESCE_SCHEDULES": str(schedules),
            "COALESCE_SEED": str(seed),
            "COALESCE_ONLY_KERNEL": only or "",
        }
        if device is not None:
            model = device.removeprefix("sim").removeprefix(":")
            self._settings["COALESCE_MODEL"] = "1" if model else "0"
            if model:
                self._settings["COALESCE_DEVICE"] = model
        self._launches: list[Launches] = []

    def __enter__(self) -> Launches:
        """Begin to record."""
        driver = active()
        folder = tempfile.mkdtemp(dir=driver.folder)
        driver.begin({**self._settings, "COALESCE_RECORD": folder})
        wanted = {**os.environ, **self._settings}
        modelled = wanted.get("COALESCE_MODEL", "0") not in ("", "0")
        launches = Launches(folder, f"sim:{driver.device}" if modelled else "sim")
        self._launches.append(launches)
        return launches

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the recording, and read what it has."""
        active().end()
        try:
            self._launches.pop()._read()
        except CoalesceError:
            # What the block raised comes first.
            if error is None:
                raise
