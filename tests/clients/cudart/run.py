"""Compiles the programs in this folder with `nvcc -cudart shared`, and runs each: `ok NAME` or `FAIL NAME`.

    python run.py FOLDER_OF_THE_TOOLKIT FOLDER_FOR_PROGRAMS
"""
import pathlib, subprocess, sys

toolkit, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
runtime = next((toolkit / "lib").glob("libcudart.so.*"))
# PTX alone, which the simulator runs; linked by hand, as the package has no libcudart.so.
nvcc = [toolkit / "bin/nvcc", "-std=c++17", "-lineinfo", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"]
for source in sorted(pathlib.Path(__file__).parent.glob("*.cu")):
    made, program = folder / f"{source.stem}.o", folder / source.stem
    build = [[*nvcc, "-c", source, "-o", made], ["g++", made, "-o", program, f"-L{runtime.parent}", f"-l:{runtime.name}"]]
    try:
        for command in build:
            subprocess.run(command, check=True)
        result = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=60)
        said = result.stdout.strip().splitlines()
        good = result.returncode == 0 and f"ok {source.stem}" in said
        print(f"ok {source.stem}" if good else f"FAIL {source.stem} {' '.join(said)} ({result.returncode})", flush=True)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"FAIL {source.stem} {error}", flush=True)
