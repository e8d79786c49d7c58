"""Runs one side of `coalesce judge`, which starts it with the simulator's driver.

It needs nothing of this package: the program has it inside, and starts it as

    python _judge.py describe REF OUT.json
    python _judge.py reference REF PLAN.json FOLDER
    python _judge.py candidate FILE PLAN.json DATA FOLDER

A reference has `inputs(n, ..., rng)`, whose other parameters are sizes, and `reference(*inputs)`
in NumPy; perhaps `sizes = {"n": (1, 4096)}`. A candidate has `candidate(*inputs, *outputs)`, which
launches kernels: arrays are on the device (`Array`), and numbers are Python's. No copy between
host and device is part of a call, so data that the host cannot see is computed on the device.

`guard` refuses the shortcuts that programs take which write kernels. It is no wall: whoever sets
out to deceive Python itself can. The sandbox protects the machine, not the verdict.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

#: What a candidate may import; a package with all of its modules.
PACKAGES = "__future__ collections cuda dataclasses enum functools itertools math numba numba_cuda"
PACKAGES += " numpy operator tinygrad triton typing"
#: Names with which a program looks around in Python, or at files.
REACHING = "breakpoint builtins compile eval exec delattr getattr globals input locals open setattr"
REACHING += " vars __import__"
#: Attributes with which one does, of any object.
ATTRIBUTES = (
    "builtins ctypes ctypeslib dump f_back f_builtins f_globals f_locals gi_frame importlib"
)
ATTRIBUTES += " inspect memmap modules objmode os _os sys _sys tb_frame tofile"
#: Functions of NumPy that read and write files.
FILES = "DataSource fromfile fromregex genfromtxt load loadtxt open_memmap save savetxt savez"
FILES += " savez_compressed"

#: Outputs hold this byte before a call.
POISON = 0xA5

#: Bytes of a message of the driver.
ROOM = 1000


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    commands: dict[str, Any] = {
        "describe": describe,
        "reference": reference,
        "candidate": candidate,
    }
    commands[arguments[0]](*arguments[1:])


def load(file: str, name: str) -> ModuleType:
    """Run a file as a module, whose folder can be imported from."""
    path = Path(file)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    code = compile(path.read_text(), str(path), "exec")
    exec(code, module.__dict__)
    return module


def function(module: ModuleType, name: str) -> Any:
    """Return a function that a reference must have."""
    found = getattr(module, name, None)
    if not callable(found):
        raise Wrong(f"there is no function {name}")
    return found


class Wrong(Exception):
    """What is wrong with a reference, in a line."""


def names_of_sizes(module: ModuleType) -> list[str]:
    """Return the sizes that `inputs` takes."""
    names = list(inspect.signature(function(module, "inputs")).parameters)
    if "rng" not in names or names == ["rng"]:
        raise Wrong("inputs takes sizes and rng, as in inputs(n, rng)")
    return [name for name in names if name != "rng"]


def describe(file: str, out: str) -> None:
    """Write which sizes a reference has, and what its Python reads."""
    module = load(file, "reference")
    function(module, "reference")
    given = getattr(module, "sizes", {})
    sizes = {}
    for name in names_of_sizes(module):
        low, high, *multiple = given.get(name, (0, 5000))
        sizes[name] = {"min": int(low), "max": int(high)}
        if multiple:
            sizes[name]["multiple"] = int(multiple[0])
    own = {"", str(Path(file).parent), str(Path(__file__).parent)}
    reads = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.realpath(sys.executable)]
    reads += [folder for folder in sys.path if folder not in own]
    measured = callable(getattr(module, "candidate", None))
    about = {"sizes": sizes, "reads": reads, "measured": measured}
    Path(out).write_text(json.dumps(about))


def reference(file: str, plan: str, folder: str) -> None:
    """Write the inputs of all calls, and what the reference makes of them."""
    import numpy as np

    module = load(file, "reference")
    names_of_sizes(module)
    for name, sizes, seed in calls_of(plan):
        inputs = module.inputs(**sizes, rng=np.random.default_rng(seed))
        inputs = [np.asarray(value) for value in as_list(inputs)]
        given = [value.item() if value.ndim == 0 else value.copy() for value in inputs]
        outputs = [np.ascontiguousarray(value) for value in as_list(module.reference(*given))]
        for value in inputs + outputs:
            if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
                raise Wrong(f"arrays of {value.dtype} cannot be judged")
        shapes = [np.array(value.shape, np.int64) for value in outputs]
        named = {f"in{at}": value for at, value in enumerate(inputs)}
        named |= {f"shape{at}": value for at, value in enumerate(shapes)}
        named |= {f"type{at}": np.zeros(0, value.dtype) for at, value in enumerate(outputs)}
        np.savez(Path(folder) / "data" / f"{name}.npz", **named)
        save(Path(folder) / "expected", name, inputs, outputs)


def calls_of(plan: str) -> list[tuple[str, dict[str, int], list[int]]]:
    """Return the name, the sizes and the seed of each call."""
    data = json.loads(Path(plan).read_text())
    cases, seed = data["cases"], data["seed"]
    return [(name, cases[case], [seed, case, call]) for name, case, call in data["calls"]]


def as_list(values: Any) -> list[Any]:
    """Return what a function returns, one or several."""
    return list(values) if isinstance(values, (tuple, list)) else [values]


def save(folder: Path, name: str, inputs: list[Any], outputs: list[Any]) -> None:
    """Write arrays: a line with the type, and the elements in order."""
    import numpy as np

    for kind, values in {"in": inputs, "out": outputs}.items():
        for at, value in enumerate(values):
            if value.ndim or kind == "out":
                data = value.dtype.str.encode() + b"\n" + np.ascontiguousarray(value).tobytes()
                (folder / f"{name}-{kind}{at}").write_bytes(data)


class Array:
    """An array on the device, which numba, Triton and others take."""

    def __init__(self, driver: Driver, shape: tuple[int, ...], dtype: Any) -> None:
        """Allocate it."""
        import numpy as np

        self.shape = tuple(int(extent) for extent in shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.ndim = len(self.shape)
        self.nbytes = self.size * dtype.itemsize
        # Triton asks for the dtype's name, and numba for its code.
        self.dtype = dtype
        address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(self.nbytes, 1)))
        self.ptr = address.value

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Return what other packages know arrays by."""
        data = (self.ptr if self.size else 0, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3}

    def data_ptr(self) -> int:
        """Return the address."""
        return self.ptr

    def numel(self) -> int:
        """Return how many elements there are."""
        return self.size

    def stride(self, dimension: int) -> int:
        """Return the elements between two neighbours of a dimension."""
        import numpy as np

        behind = self.shape[dimension % self.ndim + 1 :]
        return int(np.prod(behind, dtype=np.int64))

    def __len__(self) -> int:
        """Return the first extent."""
        return self.shape[0]


class Driver:
    """The simulator's driver."""

    def __init__(self) -> None:
        """Load it, with a context for this thread."""
        self.library = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the API."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} fails with status {status}")

    def write(self, array: Array, values: Any) -> None:
        """Copy to the device."""
        data, bytes_ = values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)
        if array.nbytes:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(array.ptr), data, bytes_)

    def read(self, array: Array) -> Any:
        """Copy from the device."""
        import numpy as np

        values = np.empty(array.shape, array.dtype)
        data, bytes_ = values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)
        if array.nbytes:
            self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(array.ptr), bytes_)
        return values

    def poison(self, array: Array) -> None:
        """Fill with bytes that are no result."""
        if array.nbytes:
            value, bytes_ = ctypes.c_ubyte(POISON), ctypes.c_size_t(array.nbytes)
            self.call("cuMemsetD8_v2", ctypes.c_uint64(array.ptr), value, bytes_)

    def begin(self, folder: Path, settings: dict[str, str]) -> None:
        """Begin a recording into a folder."""
        folder.mkdir()
        own = {"COALESCE_RECORD": str(folder), "COALESCE_GIVEN": "1", "COALESCE_FAULT": "continue"}
        problem = ctypes.create_string_buffer(ROOM)
        lines = "\n".join(f"{name}={value}" for name, value in {**own, **settings}.items())
        if self.library.coalesce_record_begin(lines.encode(), problem, ctypes.c_size_t(ROOM)):
            raise RuntimeError(problem.value.decode())

    def end(self) -> None:
        """End the recording."""
        self.library.coalesce_record_end()


def candidate(file: str, plan: str, data: str, folder: str) -> None:
    """Call a candidate, and write what it leaves."""
    left = Path(folder)
    problems = guard(Path(file).read_text())
    (left / "guard.json").write_text(json.dumps(problems))
    if problems:
        return
    driver = Driver()
    driver.begin(left / "import", {})
    try:
        called = load(file, "candidate_module").candidate
        if not callable(called):
            raise TypeError("candidate is no function")
    except BaseException as error:
        (left / "failed.txt").write_text(told(error, file))
        return
    finally:
        driver.end()
    settings = json.loads(Path(plan).read_text())["settings"]
    arrays: list[Array] = []
    for name, _, _ in calls_of(plan):
        arrays = call(driver, called, (name, Path(data), left, file), settings[name], arrays)


def call(
    driver: Driver,
    called: Any,
    names: tuple[str, Path, Path, str],
    settings: dict[str, str],
    before: list[Array],
) -> list[Array]:
    """Call a candidate once. A second call has the arrays of the first, with what that has left."""
    import numpy as np

    name, data, left, file = names
    path = data / f"{name}.npz"
    with np.load(path) as stored:
        held = {key: stored[key] for key in stored}
    # From here on the data is on the device alone.
    path.unlink()
    inputs, outputs = [], []
    arrays = list(before) if name.endswith("-1") else []
    again = iter(arrays)
    for key in [key for key in held if key.startswith("in")]:
        value = held.pop(key)
        if value.ndim == 0:
            inputs.append(value.item())
            continue
        array = next(again, None) or Array(driver, value.shape, value.dtype)
        driver.write(array, np.ascontiguousarray(value))
        value[...] = 0
        inputs.append(array)
    for at in range(len([key for key in held if key.startswith("shape")])):
        output = next(again, None)
        if output is None:
            output = Array(driver, held[f"shape{at}"], held[f"type{at}"].dtype)
            driver.poison(output)
        outputs.append(output)
    driver.begin(left / name, settings)
    try:
        called(*inputs, *outputs)
        driver.call("cuCtxSynchronize")
    except BaseException as error:
        (left / f"{name}.txt").write_text(told(error, file))
    finally:
        driver.end()
    arrays = [value for value in inputs if isinstance(value, Array)] + outputs
    try:
        kept = [driver.read(it) if isinstance(it, Array) else np.asarray(it) for it in inputs]
        save(left, name, kept, [driver.read(it) for it in outputs])
    except RuntimeError as error:
        (left / f"{name}.txt").write_text(str(error))
    return arrays


def told(error: BaseException, file: str) -> str:
    """Return an error in a line, with the candidate's line."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    at = f"line {lines[-1]}: " if lines else ""
    first = (str(error).strip() or "no message").splitlines()[0]
    return f"{at}{type(error).__name__}: {first}"


def guard(text: str) -> list[dict[str, Any]]:
    """Return what of a candidate reaches for more than kernels need."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return [{"rule": "failed", "trick": False, "text": f"{type(error).__name__}: {error}"}]
    problems = []
    numpy = {"numpy"}

    def add(node: ast.AST, rule: str, what: str) -> None:
        text = f"line {getattr(node, 'lineno', 1)}: {what}"
        problems.append({"rule": rule, "trick": True, "text": text})

    def imported(node: ast.AST, name: str) -> None:
        if name.split(".")[0] not in PACKAGES.split():
            why = "a candidate has packages for kernels alone, and not the reference"
            add(node, "import", f"imports {name}; {why}")

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imported(node, alias.name)
                numpy |= {alias.asname} if alias.asname and alias.name == "numpy" else set()
        elif isinstance(node, ast.ImportFrom):
            imported(node, "." * node.level + (node.module or ""))
            for alias in node.names:
                of_numpy = (node.module or "").split(".")[0] == "numpy"
                reaching = ATTRIBUTES.split() + ["*"] + FILES.split() * of_numpy
                if alias.name in reaching:
                    add(node, "reaches_out", f"imports {alias.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in REACHING.split():
            add(node, "reaches_out", f"uses {node.id}")
        elif isinstance(node, ast.Attribute):
            hidden = node.attr.startswith("__") and node.attr != "__name__"
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            of_numpy = isinstance(root, ast.Name) and root.id in numpy
            if hidden or node.attr in ATTRIBUTES.split() + FILES.split() * of_numpy:
                add(node, "reaches_out", f"uses .{node.attr}")
    return problems


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as error:
        sys.exit(f"error: {error}")
    except Exception as error:
        sys.exit(f"error: {told(error, sys.argv[2])}")
