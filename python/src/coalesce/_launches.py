"""What kernels did: counters, findings, lines and pictures."""

from __future__ import annotations

import json
import linecache
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from html import escape
from typing import Any

from ._driver import CoalesceError, call, run


@dataclass(frozen=True)
class Finding:
    """A fault that the checks found, and how often."""

    text: str
    count: int

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class Picture:
    """What one access of a warp looks like in memory: SVG in a notebook, text elsewhere."""

    title: str
    text: str
    svg: str

    def __str__(self) -> str:
        """Return the picture as text."""
        return f"{self.title}:\n{self.text}"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Line:
    """A line of the source, with what was counted there."""

    file: str | None
    line: int | None
    source: str | None
    counters: Mapping[str, Any]
    pictures: Sequence[Picture] = field(repr=False)


class Kernel:
    """A kernel in all of its launches of a block."""

    def __init__(self, launches: Launches, number: int, data: dict[str, Any]) -> None:
        """Take what the program `coalesce` reports."""
        self._launches = launches
        self._number = number
        self._data = data
        #: The name in the source, without parameters, such as `__main__::transpose`.
        self.name: str = data["name"]
        #: The name in the PTX.
        self.mangled: str = data["kernel"]
        #: How many launches ended.
        self.launches: int = data["launches"]
        #: The shapes of launches: grid, block, and how often.
        self.shapes: list[dict[str, Any]] = data["shapes"]
        #: Counters by the names that goals use, such as `shared.bank_conflicts`.
        self.counters: dict[str, float] = data["metrics"]
        #: Counters by the names of Nsight Compute.
        self.nsight: dict[str, float | None] = data["counters"] or {}
        #: What the checks found.
        self.findings = [Finding(self._said(it["text"]), it["count"]) for it in data["findings"]]
        #: The fault that stopped a launch.
        self.stopped: str | None = data["stopped"] and self._said(data["stopped"])
        #: The lines of the source, the costliest first.
        self.lines = [_line(line) for line in data["lines"] or []]

    def _said(self, text: str) -> str:
        return text.replace(f"`{self.mangled}`", self.name)

    @property
    def predicted_us(self) -> float | None:
        """The predicted time of all launches in microseconds, each cold; None without one."""
        predicted = self._data.get("predicted")
        time = predicted.get("time_ms") if isinstance(predicted, dict) else None
        return None if time is None else 1e3 * time

    def picture(self, line: int | None = None) -> Picture:
        """Return the picture of the costliest line's access, or of this line's."""
        for known in self.lines:
            if known.pictures and line in (None, known.line):
                return known.pictures[0]
        where = self.name if line is None else f"line {line} of {self.name}"
        raise CoalesceError(f"{where} makes no access to memory")

    def require(self, *goals: str) -> None:
        """Raise AssertionError unless the kernel meets these goals, as in `registers <= 64`."""
        self._launches._require(goals, f"--kernel={self._number}")

    def __repr__(self) -> str:
        """Return the name and how often it was launched."""
        return f"<kernel {self.name}, launches: {self.launches}, findings: {len(self.findings)}>"

    def _repr_html_(self) -> str:
        return self._launches._html([self])


class Launches:
    """The kernels that a block launched, in the order of their first launches."""

    def __init__(self, folder: str, device: str) -> None:
        """Wait for the block's end."""
        self._folder = folder
        self._device = device
        self._kernels: list[Kernel] | None = None
        weakref.finalize(self, shutil.rmtree, folder, True)

    def _read(self) -> None:
        if not os.listdir(self._folder):
            self._kernels = []
            return
        text = run("recording", "--device", self._device, self._folder)
        kernels = enumerate(json.loads(text)["kernels"])
        self._kernels = [Kernel(self, number, data) for number, data in kernels]

    @property
    def kernels(self) -> list[Kernel]:
        """All kernels."""
        if self._kernels is None:
            raise CoalesceError("the block that records has not ended")
        return self._kernels

    def match(self, name: str) -> list[Kernel]:
        """Return the kernels of this name, in which `*` stands for any letters.

        A name is that in the PTX, that in the source, or the source's last part: `m::add` or `add`.
        """
        if not isinstance(name, str):
            raise TypeError(f"a kernel's name is a str, not {type(name).__name__}")

        def fits(kernel: Kernel) -> bool:
            names = (kernel.name, kernel.name.rpartition("::")[2], kernel.mangled)
            return any(fnmatchcase(known, name.replace("[", "[[]")) for known in names)

        return [kernel for kernel in self.kernels if fits(kernel)]

    def __getitem__(self, name: str) -> Kernel:
        """Return the one kernel of this name, in which `*` stands for any letters."""
        found = self.match(name)
        if len(found) == 1:
            return found[0]
        others = ", ".join(kernel.name for kernel in found or self.kernels)
        if found:
            raise KeyError(f"{name} names {len(found)} kernels, {others}: use match({name!r})")
        raise KeyError(f"no kernel {name} was launched; there are: {others or 'none'}")

    def __contains__(self, name: object) -> bool:
        """Return whether a kernel of this name was launched."""
        return isinstance(name, str) and bool(self.match(name))

    def __iter__(self) -> Iterator[Kernel]:
        """Iterate over the kernels."""
        return iter(self.kernels)

    def __len__(self) -> int:
        """Return how many kernels there are."""
        return len(self.kernels)

    @property
    def findings(self) -> list[Finding]:
        """What the checks found, and what stopped launches, in all kernels."""
        stopped = [Finding(kernel.stopped, 1) for kernel in self.kernels if kernel.stopped]
        return [found for kernel in self.kernels for found in kernel.findings] + stopped

    def require(self, *goals: str) -> None:
        """Raise AssertionError unless all goals are met, as in `loads.sectors of copy* <= 64`."""
        self._require(goals)

    def _require(self, goals: Sequence[str], *more: str) -> None:
        if not goals or not all(isinstance(goal, str) for goal in goals):
            raise TypeError("give goals, each a str such as 'shared.bank_conflicts == 0'")
        _ = self.kernels
        wanted = [f"--require={goal}" for goal in goals]
        done = call("recording", "--device", self._device, *wanted, *more, self._folder)
        if done.returncode == 1:
            raise AssertionError(done.stdout.partition("Goals:\n")[2].strip())
        if done.returncode:
            message = done.stderr.strip().removeprefix("error: ").removesuffix("; see --help")
            raise CoalesceError(message.rpartition("--require <GOAL>': ")[2])

    def __repr__(self) -> str:
        """Return the kernels' names, and how often they were launched."""
        if self._kernels is None:
            return "<launches of a block that has not ended>"
        return f"<launches of {', '.join(kernel.name for kernel in self.kernels) or 'no kernel'}>"

    def _repr_html_(self) -> str:
        return self._html(self.kernels)

    def _html(self, kernels: Sequence[Kernel]) -> str:
        """Return a table of kernels, with the picture of each below."""
        columns = ["launches", "predicted us", "loads.sectors", "stores.sectors"]
        columns += ["shared.bank_conflicts", "instructions", "findings"]
        rows, below = [], []
        for kernel in kernels:
            values = {"launches": kernel.launches, "predicted us": kernel.predicted_us}
            counters = {**kernel.counters, **values, "findings": len(kernel.findings)}
            cells = "".join(f"<td>{_number(counters.get(name))}</td>" for name in columns)
            rows.append(f"<tr><th>{escape(kernel.name)}</th>{cells}</tr>")
            texts = [found.text for found in kernel.findings] + [kernel.stopped or ""]
            below += [f"<pre>{escape(text)}</pre>" for text in texts if text]
            drawn = next((line for line in kernel.lines if line.pictures), None)
            if drawn:
                where = f"{kernel.name}, {drawn.file}:{drawn.line}: {(drawn.source or '').strip()}"
                svg = drawn.pictures[0].svg
                below.append(f"<p>{escape(where)}</p><div style='max-width:652px'>{svg}</div>")
        head = "".join(f"<th>{name}</th>" for name in ["kernel", *columns])
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>{''.join(below)}"


def _line(data: dict[str, Any]) -> Line:
    pictures = [Picture(**picture) for picture in data.pop("pictures", [])]
    file, line, source = data.pop("file"), data.pop("line"), data.pop("source")
    if source is None and file and line:
        # A cell of a notebook is no file.
        source = linecache.getline(file, line).rstrip("\n") or None
    return Line(file, line, source, data, pictures)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"
