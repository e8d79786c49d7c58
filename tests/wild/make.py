#!/usr/bin/env python3
"""Rebuilds the PTX of the programs in this folder, and the expectations in their comments.

    tests/wild/make.py expect [NAME...]    rewrites the `// in:` and `// out:` lines below `//=` lines; long lists of values are
                                           lines of `values/NAME.txt`, and `@3` is the third
    tests/wild/make.py compile [NAME...]   rewrites the `.ptx` files; needs nvcc and clang-19 on the path; for `.triton.py`, the
                                           Python that runs this must have Triton 3.9 (no GPU is needed); for `cutlass`,
                                           NVCC_APPEND_FLAGS must name the headers of CUTLASS 4.2 (-I...)

In a program's comments, `//#` is Python, and `//= out: u32 EXPRESSION` computes the values of the next line: a second program
for the same task that is independent of GPUs. `//@ 90` before the code names the variants to compile. A `.triton.py` has all
this in strings; its `KERNELS` are functions with the types of their parameters, `CONSTANTS` has the values of constant
parameters, and `VARIANTS` those of kernels with variants of their own. Each kernel becomes a separate `.ptx` file.
"""
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NVCC = {
    "sm_75": ["-arch=sm_75", "-O3"],
    "sm_80": ["-arch=sm_80", "-O3"],
    "sm_90": ["-arch=sm_90", "-O3", "-lineinfo"],
    "sm_90a": ["-arch=sm_90a", "-O3"],
    "debug": ["-arch=sm_80", "-G"],
    "fast": ["-arch=sm_86", "-O3", "-use_fast_math"],
}
CLANG = {"sm_75": ["-march=sm_75", "-O2"], "sm_90": ["-march=sm_90", "-O3", "-gline-tables-only"], "O0": ["-march=sm_70", "-O0"]}
DEFAULT = "sm_75 sm_90"


def programs(names):
    found = sorted(path for path in FOLDER.iterdir() if path.suffix in (".cu", ".c") or path.name.endswith(".triton.py"))
    return [path for path in found if not names or path.name.split(".")[0] in names]


# A list of values that is longer than this many characters goes to a separate file.
LONGEST = 1000


def text_of(ty, values, lists):
    text = " ".join(repr(float(value)) if ty[0] == "f" else str(int(value)) for value in values)
    if len(text) <= LONGEST:
        return text
    if text not in lists:
        lists.append(text)
    return f"@{lists.index(text) + 1}"


def expect(path):
    lines, names, block, lists = [], {}, [], []
    source = path.read_text().splitlines()
    after = False
    for line in source:
        if line.startswith("//#"):
            block.append(line[4:])
        elif block:
            exec("\n".join(block), names)
            block = []
        if after:
            after = False
            if re.match(r"// (in|out|inout|bytes|tensor): ", line):
                continue
        lines.append(line)
        if line.startswith("//= "):
            what, ty, expression = line[4:].split(" ", 2)
            parts = [text_of(ty, eval(part, names), lists) for part in (expression.split(" -> ") if what in ("inout:", "tensor:") else [expression])]
            lines.append(f"// {what} {ty} {' -> '.join(parts)}")
            after = True
    path.write_text("\n".join(lines) + "\n")
    values = FOLDER / "values" / f"{path.name.split('.')[0]}.txt"
    if lists:
        values.parent.mkdir(exist_ok=True)
        values.write_text("\n".join(lists) + "\n")
    else:
        values.unlink(missing_ok=True)


def compile_triton(path, variants):
    """Makes the `.ptx` files of a program for Triton."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    os.chdir(FOLDER)  # so that the file has no folder in the debug data
    program = runpy.run_path(path.name)
    for kernel, types in program["KERNELS"].items():
        constants = program.get("CONSTANTS", {}).get(kernel, {})
        source = ASTSource(fn=kernel, signature={**types, **dict.fromkeys(constants, "constexpr")}, constexprs=constants)
        for variant in program.get("VARIANTS", {}).get(kernel, variants):
            target = GPUTarget("cuda", int(variant[3:]), 32)
            options = {"num_warps": 4, "num_stages": 3, "enable_fp_fusion": True}
            made = triton.compile(source, target=target, options=options)
            out = FOLDER / "ptx" / f"{path.name.split('.')[0]}.{variant}.{kernel.__name__}.ptx"
            out.write_text(portable(made.asm["ptx"]))


def compile(path):
    clang = ".clang." in path.name
    chosen = re.search(r"^//@ (.*)$", path.read_text(), re.M)
    variants = (chosen.group(1) if chosen else DEFAULT).split()
    if path.suffix == ".py":
        return compile_triton(path, variants)
    for variant in variants:
        out = FOLDER / "ptx" / f"{path.name.split('.')[0]}.{variant}.ptx"
        if clang:
            language = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-feature=+ptx78"]
            options = CLANG[variant]
            if path.suffix == ".c":
                language = ["--target=nvptx64-nvidia-cuda", "-Xclang", "-target-feature", "-Xclang", "+ptx78"]
            else:
                options = [option.replace("-march", "--cuda-gpu-arch") for option in options]
            command = ["clang-19", *language, *options, "-S", path.name, "-o", out]
        else:
            command = ["nvcc", *NVCC[variant], "-std=c++17", "-ptx", path.name, "-o", out]
        subprocess.run(command, check=True, cwd=FOLDER)
        out.write_text(portable(out.read_text()))


def portable(text):
    """For any driver of CUDA 13, and without the folders of the machine."""
    # A driver refuses PTX that is newer than itself, whatever is in it: nothing here needs more than 9.0 (CUDA 13.0).
    return without_folders(re.sub(r"^\.version 9\.\d+$", ".version 9.0", text, flags=re.M))


def without_folders(text):
    """Without the folders of the machine: those of the compiler's headers, and the one that it ran in, which debug data have as
    numbers, too (there, a name of the same length takes its place)."""
    here = str(FOLDER.resolve())
    numbers = lambda name: ",".join(str(byte) for byte in name.encode())
    text = text.replace(here + "/", "").replace(here, ".")
    text = text.replace(numbers(here), numbers("/" + "x" * (len(here) - 1)))
    text = re.sub(r'"/[^"]*/include/', '"cuda/include/', text)
    return re.sub(r'"/[^"]*/site-packages/', '"', text)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("expect", "compile"):
        sys.exit(__doc__)
    (FOLDER / "ptx").mkdir(exist_ok=True)
    for program in programs(sys.argv[2:]):
        {"expect": expect, "compile": compile}[sys.argv[1]](program)
