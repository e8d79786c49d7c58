"""`coalesce judge` with numba and Triton: honest candidates are right, tricks are named."""

import json
import sys
from textwrap import dedent

import pytest

from coalesce._driver import call

REFERENCE = """
import numpy as np

sizes = {"n": (0, 2000)}

def inputs(n, rng):
    return rng.standard_normal(n, dtype=np.float32), float(rng.standard_normal())

def reference(x, a):
    return np.float32(a) * x
"""

NUMBA = """
from numba import cuda

@cuda.jit
def scale(x, a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i]

def launch(x, a, out, n, stream=0):
    if n:
        scale[(n + 127) // 128, 128, stream](x, a, out)

"""

HONEST = NUMBA + "def candidate(x, a, out):\n    launch(x, a, out, out.size)\n"


@pytest.fixture
def judge(tmp_path):
    """Judge a candidate by a reference. Returns the exit code, and the verdict or the error."""

    def judged(candidate, reference=REFERENCE, *more):
        files = {"reference": reference, "candidate": candidate}
        flags = []
        for name, text in files.items():
            file = tmp_path / f"{name}.py"
            file.write_text(dedent(text))
            flags += [f"--{name}", str(file)]
        flags += ["--python", sys.executable, "--format", "json", *more]
        if not more:
            flags += ["--cases", "4", "--schedules", "1", "--seed", "1"]
        done = call("judge", *flags)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    return judged


def test_an_honest_candidate_is_right_and_is_counted_beside_the_reference(judge):
    code, verdict = judge(HONEST, REFERENCE + HONEST, "--cases", "12", "--seed", "1")
    assert (code, verdict["verdict"], verdict["problems"]) == (0, "right", [])
    assert verdict["right_at"] == verdict["sizes"] and {"n": 0} in verdict["sizes"]
    assert (verdict["calls"], verdict["orders"]) == (24, 16)
    (kernel,) = verdict["kernels"]["candidate"]
    assert kernel["kernel"].endswith("::scale") and kernel["counters"]["loads.sectors"] == 250
    assert kernel["counters"] == verdict["kernels"]["reference"][0]["counters"]
    assert verdict["times_as_fast"] == 1 and "not a proof" in verdict["sure"]["result"]


def test_the_same_seed_gives_the_same_verdict(judge):
    assert judge(HONEST) == judge(HONEST)


def test_triton_on_matrices(judge):
    reference = """
    import numpy as np

    sizes = {"rows": (1, 20), "columns": (1, 200)}

    def inputs(rows, columns, rng):
        return rng.standard_normal((rows, columns), dtype=np.float32)

    def reference(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    """
    candidate = """
    import triton
    import triton.language as tl

    @triton.jit
    def softmax(out, x, columns, B: tl.constexpr):
        row, at = tl.program_id(0), tl.arange(0, B)
        value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
        value = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * columns + at, value / tl.sum(value, axis=0), mask=at < columns)

    def candidate(x, out):
        rows, columns = x.shape
        softmax[(rows,)](out, x, columns, B=triton.next_power_of_2(columns))
    """
    code, verdict = judge(candidate, reference)
    assert (code, verdict["verdict"]) == (0, "right"), verdict


TRICKS = {
    "the reference is called": (
        "from reference import reference\ndef candidate(x, a, out): out[:] = reference(x, a)\n",
        "import",
    ),
    "the host computes": (
        """
        import numpy as np
        from numba import cuda

        def candidate(x, a, out):
            if out.size:
                values = cuda.as_cuda_array(x).copy_to_host()
                cuda.as_cuda_array(out).copy_to_device(np.float32(a) * values)
        """,
        "host",
    ),
    "memory that the host sees": (
        NUMBA + "room = cuda.mapped_array(4096)\n"
        "def candidate(x, a, out):\n    launch(x, a, out, out.size)\n",
        "host",
    ),
    "nothing is launched": ("def candidate(x, a, out): pass\n", "no_launch"),
    "nothing is written": (
        NUMBA + "def candidate(x, a, out):\n    launch(x, a, x, out.size)\n",
        "input_changed",
    ),
    "another stream": (
        NUMBA + "stream = cuda.stream()\n"
        "def candidate(x, a, out):\n    launch(x, a, out, out.size, stream)\n",
        "other_stream",
    ),
    "an earlier output is left": (
        NUMBA + "seen = {}\n"
        "def candidate(x, a, out):\n"
        "    launch(x, a, cuda.device_array(1) if out.size in seen else out, min(out.size, 1))\n"
        "    if out.size not in seen:\n        launch(x, a, out, out.size)\n"
        "    seen[out.size] = out\n",
        "earlier_output",
    ),
    "the size that was seen": (
        NUMBA + "def candidate(x, a, out):\n    launch(x, a, out, min(out.size, 512))\n",
        "not_written",
    ),
    "a number that was seen": (
        NUMBA + "def candidate(x, a, out):\n    launch(x, 0.5, out, out.size)\n",
        "result",
    ),
    "frames and files": (
        "import numpy as np\ndef candidate(x, a, out):\n    np.lib.npyio.load('0-0.npz')\n",
        "reaches_out",
    ),
    "other modules": (
        "import typing\ndef candidate(x, a, out):\n    typing.sys.modules['__main__'].POISON = 0\n",
        "reaches_out",
    ),
    "all names of a module": (
        "from numpy import *\ndef candidate(x, a, out): pass\n",
        "reaches_out",
    ),
}


@pytest.mark.parametrize("what", TRICKS)
def test_tricks_are_refused(judge, what):
    candidate, rule = TRICKS[what]
    code, verdict = judge(candidate)
    assert (code, verdict["problems"][0]["rule"]) == (1, rule), verdict
    wrong = {"input_changed", "not_written", "result"}
    assert verdict["verdict"] == ("wrong" if rule in wrong else "refused")


def test_faults_of_a_candidate_are_a_verdict(judge):
    guard = HONEST.replace("    if i < out.size:\n        out[i]", "    out[i]")
    code, verdict = judge(guard)
    assert (code, verdict["problems"][0]["rule"]) == (1, "finding")
    assert "out of bounds" in verdict["problems"][0]["text"]
    for candidate, said in [
        ("def candidate(x, a, out): return x / 2\n", "line 1: TypeError: "),
        ("def other(): pass\n", "AttributeError: "),
        ("def candidate(:\n", "SyntaxError: "),
        ("def candidate(x, a, out): raise SystemExit(2)\n", "line 1: SystemExit: 2"),
    ]:
        code, verdict = judge(candidate)
        assert (code, verdict["problems"][0]["rule"]) == (1, "failed"), verdict
        assert said in verdict["problems"][0]["text"]


def test_what_is_wrong_with_a_reference_is_one_line(judge):
    for reference, said in [
        ("def reference(x): return x\n", "there is no function inputs"),
        ("def inputs(rng): pass\ndef reference(x): pass\n", "inputs takes sizes and rng"),
        (REFERENCE.replace("(0, 2000)", "(9, 3)"), "size 'n': no multiple of 1 is from 9 to 3"),
        (REFERENCE.replace("np.float32(a) * x", "x[n]"), "line 10: NameError: name 'n' is not def"),
        (REFERENCE.replace("* x", "* x.astype(complex)"), "arrays of complex128 cannot be judged"),
    ]:
        code, error = judge(HONEST, reference)
        assert code == 2 and error.count("\n") == 1 and said in error, error
