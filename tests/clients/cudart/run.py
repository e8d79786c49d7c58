"""Compiles the programs in this folder with `nvcc -cudart shared`, and runs each: `ok NAME` or `FAIL NAME`. Flags
that a program needs are in its first line, behind `// nvcc:`; a folder is a program whose device code nvcc links.

    python run.py FOLDER_OF_THE_TOOLKIT FOLDER_FOR_PROGRAMS
"""
import pathlib, subprocess, sys

toolkit, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
runtime = next((toolkit / "lib").glob("libcudart.so.*"))
# PTX alone, which the simulator runs; linked by hand, as the package has no libcudart.so.
nvcc = [toolkit / "bin/nvcc", "-std=c++17", "-lineinfo", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"]


def commands(name, sources):
    """What compiles and links a program."""
    marked = sources[0].read_text().splitlines()[0].partition("// nvcc:")[2].split()
    flags = [*marked, *(["-rdc=true"] if len(sources) > 1 else [])]
    made = [folder / f"{source.stem}.o" for source in sources]
    yield from ([*nvcc, *flags, "-c", source, "-o", to] for source, to in zip(sources, made))
    if len(sources) > 1:
        linked = folder / f"{name}.linked.o"
        yield [*nvcc, "-dlink", *made, f"-L{toolkit / 'lib'}", "-lcudadevrt", "-o", linked]
        made = [*made, linked, toolkit / "lib/libcudadevrt.a"]
    yield ["g++", *made, "-o", folder / name, f"-L{runtime.parent}", f"-l:{runtime.name}"]


here = pathlib.Path(__file__).parent
programs = {source.stem: [source] for source in here.glob("*.cu")}
programs |= {of.name: sorted(of.glob("*.cu")) for of in here.iterdir() if any(of.glob("*.cu"))}
for name, sources in sorted(programs.items()):
    try:
        for command in commands(name, sources):
            subprocess.run(command, check=True)
        result = subprocess.run([folder / name], stdout=subprocess.PIPE, text=True, timeout=60)
        said = result.stdout.strip().splitlines()
        good = result.returncode == 0 and f"ok {name}" in said
        print(f"ok {name}" if good else f"FAIL {name} {' '.join(said)} ({result.returncode})", flush=True)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"FAIL {name} {error}", flush=True)
