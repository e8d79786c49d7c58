"""The launches of `kernels.toml`: a line of `host run` into grid, block, buffers and values.

Only what these lines use of `host run` is read here; anything else is an error.
"""

import re
import shlex
import struct
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MANIFEST = FOLDER / "kernels.toml"
PTX = FOLDER / "kernels.sm_90.ptx"

# Bytes of each type, and how `struct` writes it.
TYPES = {
    "u8": (1, "B"),
    "u32": (4, "I"),
    "i32": (4, "i"),
    "u64": (8, "Q"),
    "f32": (4, "f"),
    "f64": (8, "d"),
}
FILLS = ("u8", "u32", "f32", "f64")  # those that fill.cuh has kernels for


class Wrong(Exception):
    """What is wrong with the manifest or the PTX."""


@dataclass
class Value:
    """A number, passed by value."""

    data: bytes


@dataclass
class Buffer:
    """A buffer, passed by address. `fill`: None for zeros, "ramp", or a seed of random elements."""

    type: str
    count: int
    fill: str | int | None

    @property
    def bytes(self):
        return self.count * TYPES[self.type][0]


@dataclass
class Launch:
    name: str
    kernel: str
    grid: tuple
    block: tuple
    shared: int
    arguments: list
    variables: dict

    @property
    def footprint(self):
        """Bytes of all its buffers."""
        return sum(a.bytes for a in self.arguments if isinstance(a, Buffer))


def argument(text):
    """An argument: `u32:5`, `f32[1024]`, `f32[1024]=ramp` or `f32[1024]=rand:7`."""
    if found := re.fullmatch(r"(\w+):(-?[\d.]+)", text):
        kind, number = found.groups()
        if kind in TYPES:
            number = float(number) if kind[0] == "f" else int(number)
            return Value(struct.pack("<" + TYPES[kind][1], number))
    if found := re.fullmatch(r"(\w+)\[(\d+)\](?:=(ramp|rand:(\d+)))?", text):
        kind, count, fill, seed = found.groups()
        if kind in TYPES and (fill is None or kind in FILLS):
            return Buffer(kind, int(count), int(seed) if seed is not None else fill)
    raise Wrong(f"'{text}' is no argument that this program knows")


def extent(text):
    numbers = [int(part) for part in text.split(",")]
    return tuple(numbers + [1] * (3 - len(numbers)))


def launch(name, kernel, line):
    """A launch from what follows the kernel's name in a line of `host run`."""
    options, arguments, variables = {"--shared": "0"}, [], {}
    words = iter(shlex.split(line))
    for word in words:
        if word in ("--grid", "--block", "--shared"):
            options[word] = next(words)
        elif word == "--set":
            variable, contents = next(words).split("=", 1)
            variables[variable] = argument(contents)
        else:
            arguments.append(argument(word))
    grid, block = extent(options["--grid"]), extent(options["--block"])
    return Launch(name, kernel, grid, block, int(options["--shared"]), arguments, variables)


def read(which="run", manifest=MANIFEST):
    """All launches; with "check", the small one of each kernel."""
    found = []
    for kernel in tomllib.loads(manifest.read_text())["kernel"]:
        name = kernel["name"]
        if which == "check":
            found.append(launch(name, name, kernel["check"]))
        else:
            found += [launch(f"{name} {one['size']}", name, one["run"]) for one in kernel["launch"]]
    return found


def check(launches, ptx=PTX):
    """Compares the launches with the PTX: kernels, variables, and the sizes of the parameters."""
    text = ptx.read_text()
    entries = {}
    for name, parameters in re.findall(r"\.entry (\w+)\((.*?)\)", text, re.S):
        entries[name] = [int(bits) // 8 for bits in re.findall(r"\.param \.[ubsf](\d+)", parameters)]
    names = [one.name for one in launches]
    for one in launches:
        if names.count(one.name) > 1:
            raise Wrong(f"two launches are called {one.name}")
        sizes = [8 if isinstance(a, Buffer) else len(a.data) for a in one.arguments]
        if one.kernel not in entries:
            raise Wrong(f"{ptx.name} has no kernel {one.kernel}")
        if entries[one.kernel] != sizes:
            raise Wrong(f"{one.name}: parameters of {entries[one.kernel]} bytes, not {sizes}")
        for variable, contents in one.variables.items():
            if not re.search(rf"\.const .*\b{variable}\[{contents.bytes}\]", text):
                raise Wrong(f"{one.name}: no variable {variable} of {contents.bytes} bytes")
