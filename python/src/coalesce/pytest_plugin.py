"""The pytest plugin: `pytest --coalesce[=MODEL]` runs tests on the simulated GPU.

A test fails if its kernels have findings, or miss a goal of `@pytest.mark.gpu_goal(...)`. The run
ends with a summary of kernels, also with pytest-xdist, each of whose workers has its own driver.
Without `--coalesce` the plugin does nothing.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

from ._driver import CoalesceError, active
from ._launches import Kernel, Launches
from ._record import record

#: Under which the kernels of a test travel with its report.
KEY = "coalesce_kernels"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags."""
    group = parser.getgroup("coalesce", "tests on a simulated GPU")
    group.addoption(
        "--coalesce",
        nargs="?",
        const="sim",
        metavar="MODEL",
        help="run CUDA on the simulator; --coalesce=hopper with the caches of that GPU",
    )
    group.addoption(
        "--coalesce-check",
        default="all",
        metavar="CHECKS",
        help="the faults to look for: all, or some of memory,init,race,sync,undefined",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load the driver before any test file or conftest.py can load another."""
    given = early_config.known_args_namespace
    # In `pytest --coalesce tests` the second word names tests, and no GPU.
    for at, (flag, word) in enumerate(zip(args, args[1:])):
        if flag == "--coalesce" and os.path.exists(word.partition("::")[0]):
            args[at] = "--coalesce=sim"
            given.coalesce = "sim"
            given.file_or_dir = [*given.file_or_dir, word]
    if given.coalesce is not None:
        try:
            with record(device=given.coalesce, check=given.coalesce_check):
                pass
        except CoalesceError as error:
            raise pytest.UsageError(f"--coalesce: {error}") from None


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark; record tests if asked to."""
    config.addinivalue_line(
        "markers", "gpu_goal(goal, ...): with --coalesce, goals that the test's kernels must meet"
    )
    if config.getoption("--coalesce") is not None:
        config.pluginmanager.register(Recording(config), "coalesce-recording")
        if hasattr(config, "workerinput"):
            # A worker of pytest-xdist ends without what Python does at its end.
            config.add_cleanup(lambda: shutil.rmtree(active().folder, ignore_errors=True))


class Recording:
    """Records each test, and sums up kernels."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin with no kernel."""
        self.settings = {
            "device": config.getoption("--coalesce"),
            "check": config.getoption("--coalesce-check"),
        }
        #: By name: launches, findings, predicted microseconds, sectors, conflicts.
        self.kernels: dict[str, list[float]] = defaultdict(lambda: [0.0] * 5)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run a test in a block that records."""
        try:
            with record(**self.settings) as launches:
                result = yield
        finally:
            item.user_properties.append((KEY, [_summary(kernel) for kernel in launches.kernels]))
        problems = [f"{found}" for found in launches.findings]
        for mark in item.iter_markers("gpu_goal"):
            problems += _missed(launches, mark.args)
        if problems:
            pytest.fail("\n".join(problems), pytrace=False)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a test's kernels, which come from a worker with pytest-xdist."""
        if report.when != "call":
            return
        for key, kernels in report.user_properties:
            if key == KEY:
                for name, *values in kernels:  # type: ignore[attr-defined]
                    known = self.kernels[name]
                    self.kernels[name] = [a + b for a, b in zip(known, values)]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the summary of kernels."""
        if not self.kernels:
            return
        terminalreporter.section("kernels on the simulated GPU")
        width = max(map(len, self.kernels))
        heads = ["launches", "findings", "predicted us", "sectors", "bank conflicts"]
        terminalreporter.write_line("  ".join(["kernel".ljust(width), *heads]))
        for name, values in sorted(self.kernels.items()):
            texts = [f"{value:.0f}" for value in values]
            # No time means that none is predicted.
            texts[2] = f"{values[2]:.4g}" if values[2] else "-"
            texts = [text.rjust(len(head)) for text, head in zip(texts, heads)]
            terminalreporter.write_line("  ".join([name.ljust(width), *texts]))


def _missed(launches: Launches, goals: tuple[str, ...]) -> list[str]:
    try:
        launches.require(*goals)
    except AssertionError as error:
        return [str(error)]
    except (CoalesceError, TypeError) as error:
        return [f"gpu_goal: {error}"]
    return []


def _summary(kernel: Kernel) -> list[str | float]:
    of = kernel.counters
    found = sum(found.count for found in kernel.findings) + (kernel.stopped is not None)
    sectors = of.get("loads.sectors", 0) + of.get("stores.sectors", 0)
    predicted = kernel.predicted_us or 0
    conflicts = of.get("shared.bank_conflicts", 0)
    return [kernel.name, kernel.launches, found, predicted, sectors, conflicts]
