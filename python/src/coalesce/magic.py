"""`%%coalesce` of IPython and Jupyter: `%load_ext coalesce`."""

from __future__ import annotations

import shlex
from typing import Any

from ._driver import CoalesceError, activate
from ._record import record

#: What `%%coalesce NAME=VALUE ...` may set.
TEXTS = ("check", "device", "fault", "only")
COUNTS = ("schedules", "seed")


def load_ipython_extension(shell: Any) -> None:
    """Make the simulator the CUDA driver, and add the magic `%%coalesce`."""
    from IPython.core.error import UsageError
    from IPython.display import display as untyped_display

    display: Any = untyped_display
    activate()

    def coalesce(line: str, cell: str) -> None:
        """Run a cell on the simulator: `%%coalesce [check=race] [device=sim:ampere] ...`.

        Shows its kernels, and leaves them in the variable `launches`.
        """
        try:
            with record(**_settings(line)) as launches:
                result = shell.run_cell(cell)
        except CoalesceError as error:
            raise UsageError(f"%%coalesce: {error}") from None
        shell.user_ns["launches"] = launches
        display(launches)
        if not result.success:
            raise UsageError("%%coalesce: the cell failed, see above")

    shell.register_magic_function(coalesce, magic_kind="cell")


def _settings(line: str) -> dict[str, Any]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CoalesceError(str(error)) from None
    settings: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in TEXTS + COUNTS:
            names = ", ".join(TEXTS + COUNTS)
            raise CoalesceError(f"{word!r}: give NAME=VALUE, where NAME is of {names}")
        if name in COUNTS and not value.isdecimal():
            raise CoalesceError(f"{word!r}: give a whole number")
        settings[name] = int(value) if name in COUNTS else value
    return settings
