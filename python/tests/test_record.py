"""`record`: real numba and Triton, in this process and in others."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import kernels
import pytest

import coalesce

pytestmark = pytest.mark.filterwarnings("ignore")


def python(code, **environment):
    """Run code in a process of its own. Returns its output and errors."""
    import os

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=Path(__file__).parent,
    )
    return done.stdout, done.stderr


def test_a_bank_conflict_has_counters_a_line_and_a_picture():
    with coalesce.record() as launches:
        kernels.run_transpose()
    kernel = launches["transpose"]
    assert (kernel.name, kernel.launches, len(launches)) == ("kernels::transpose", 1, 1)
    assert kernel.counters["shared.bank_conflicts"] == 31 * 32
    assert kernel.counters["loads.sectors"] == 1024 * 4 / 32
    assert kernel.nsight["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 128
    assert kernel.predicted_us > 1 and kernel.findings == [] and kernel.stopped is None
    assert kernel.shapes[0]["block"] == [32, 32, 1]
    line = kernel.lines[0]
    assert (line.line, line.counters["bank_conflicts"]) == (kernels.line_of("conflicts"), 992)
    assert line.source.strip() == "out[y, x] = tile[x, y]  # conflicts"
    picture = kernel.picture()
    assert picture._repr_svg_().startswith("<svg") and "32 wavefronts" in str(picture)
    assert kernel.picture(line.line) == picture
    with pytest.raises(coalesce.CoalesceError, match="line 1 of kernels::transpose makes no"):
        kernel.picture(1)
    assert "<svg" in launches._repr_html_() and "kernels::transpose" in kernel._repr_html_()


def test_goals_are_those_of_the_crate():
    with coalesce.record() as launches:
        kernels.run_transpose()
    launches["transpose"].require("shared.bank_conflicts == 992", "loads.sectors <= launches * 128")
    launches.require("findings == 0", "loads.sectors of trans* <= 1.05 * loads.bytes / 32")
    with pytest.raises(AssertionError) as missed:
        launches["transpose"].require("shared.bank_conflicts == 0")
    first, *picture = str(missed.value).splitlines()
    assert first.startswith("missed shared.bank_conflicts == 0: 992; ")
    assert f"kernels.py:{kernels.line_of('conflicts')} has 992" in first + picture[0]
    assert any("bank" in line for line in picture)
    with pytest.raises(AssertionError, match="no such kernel was launched"):
        launches.require("findings of copy == 0")
    for goal, said in [
        ("loads", "a goal needs <=, <, ==, >= or >"),
        ("banks == 0", "unknown metric 'banks'; there are "),
        ("ampere: loads.sectors == 0", "give --device sim:ampere"),
        ("\n", "a goal needs"),
    ]:
        with pytest.raises(coalesce.CoalesceError, match=re.escape(said)):
            launches.require(goal)
    for goals in [(), (3,), (None,)]:
        with pytest.raises(TypeError):
            launches.require(*goals)


def test_a_race_and_an_access_out_of_bounds_are_findings():
    with coalesce.record() as launches:
        kernels.run_histogram()
        kernels.run_beyond()
    (race,) = launches["histogram"].findings
    assert str(race).startswith("kernel kernels::histogram: race between blocks: read of 4 bytes")
    assert f"kernels.py:{kernels.line_of('race')}:" in race.text
    assert "out of bounds write of 4 bytes" in str(launches["beyond"].findings[0])
    assert [kernel.name for kernel in launches] == ["kernels::histogram", "kernels::beyond"]
    with pytest.raises(AssertionError, match="missed findings == 0: 2"):
        launches.require("findings == 0")
    with coalesce.record(check="init") as unchecked:
        kernels.run_histogram()
    assert unchecked.findings == []


def test_a_fault_that_fails_a_launch_ends_with_its_block():
    with coalesce.record(fault="stop") as launches, pytest.raises(Exception, match="ILLEGAL"):
        kernels.run_beyond()
    assert "out of bounds write" in launches["beyond"].findings[0].text
    with coalesce.record() as after:
        kernels.run_transpose()
    assert after["transpose"].launches == 1


def test_blocks_nest_and_threads_share_one():
    with coalesce.record() as outer:
        kernels.run_transpose()
        with coalesce.record(predict=False) as inner:
            thread = threading.Thread(target=kernels.run_transpose)
            thread.start()
            thread.join()
            with pytest.raises(coalesce.CoalesceError, match="has not ended"):
                inner["transpose"]
    assert outer["transpose"].launches == inner["transpose"].launches == 1
    assert outer["transpose"].predicted_us and inner["transpose"].predicted_us is None


def test_names_choose_kernels():
    with coalesce.record() as launches:
        kernels.run_transpose()
        kernels.run_histogram()
    assert launches["*::transpose"] is launches["t*"] is launches[launches["transpose"].mangled]
    assert "histogram" in launches and "copy" not in launches and 3 not in launches
    assert len(launches.match("*")) == 2 and launches.match("[a-z]*") == []
    with pytest.raises(KeyError, match="no kernel copy was launched; there are: kernels::t"):
        launches["copy"]
    with pytest.raises(KeyError, match=r"\* names 2 kernels"):
        launches["*"]
    with pytest.raises(TypeError):
        launches[3]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"check": "banks"}, coalesce.CoalesceError, "COALESCE_CHECK: unknown check 'banks'"),
        ({"device": "voodoo"}, coalesce.CoalesceError, "there is no GPU 'voodoo'; there are g80"),
        ({"device": "sim:ampere"}, coalesce.CoalesceError, "run ampere in another process"),
        ({"fault": "no"}, coalesce.CoalesceError, "give stop, continue or defer"),
        ({"only": "a\nCOALESCE_RECORD=/"}, coalesce.CoalesceError, "is more than a line"),
        ({"only": "a\0"}, coalesce.CoalesceError, "is more than a line"),
        ({"check": None}, TypeError, "check: give a str, not NoneType"),
        ({"seed": -1}, TypeError, "seed: give a whole number from 0, not -1"),
        ({"schedules": "2"}, TypeError, "schedules: give a whole number from 0, not '2'"),
    ],
)
def test_wrong_settings_are_one_line(settings, error, said):
    with pytest.raises(error) as raised, coalesce.record(**settings):
        pass
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_only_one_kernel_on_a_model_in_other_orders():
    with coalesce.record(device="hopper", only="transpose", schedules=2) as launches:
        kernels.run_transpose()
        kernels.run_histogram()
    launches.require("hopper: predicted.us > 1", "occupancy > 0")
    assert [kernel.name for kernel in launches] == ["kernels::transpose"]


def test_another_gpu_is_another_process():
    code = """
import coalesce
for device in ["voodoo", "sim:ampere"]:
    try:
        with coalesce.record(device=device) as launches:
            import kernels
            kernels.run_transpose()
    except coalesce.CoalesceError as error:
        print(error)
launches.require("ampere: l1_hit_percent <= 100")
print(launches)
"""
    output, errors = python(code)
    assert output.splitlines()[1:] == ["<launches of kernels::transpose>"], errors


def test_another_driver_is_one_line(tmp_path):
    other = tmp_path / "libcuda.so.1"
    other.write_bytes((coalesce._driver.PROGRAM.parent / "libcoalesce_cudart.so").read_bytes())
    code = f"import ctypes, coalesce; ctypes.CDLL({str(other)!r}); coalesce.activate()"
    _, errors = python(code)
    said = f"CoalesceError: {other} is loaded already: call coalesce.activate() before the first"
    assert said in errors.splitlines()[-1]
    _, errors = python("import numba.cuda, coalesce; coalesce.activate()", LD_LIBRARY_PATH="")
    assert "numba.cuda was imported before, without a driver" in errors.splitlines()[-1]


def test_the_lines_of_the_readme_run(tmp_path):
    readme = Path(__file__).parent.parent / "README.md"
    lines = readme.read_text().partition("```python\n")[2].partition("```")[0]
    assert len(lines.splitlines()) == 10
    program = tmp_path / "ten.py"
    program.write_text(lines)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)], capture_output=True, text=True
    )
    assert done.stdout.startswith("8.0 A warp's load from global memory"), done.stderr


def test_triton(tmp_path):
    code = """
import coalesce
coalesce.activate()
import sys
sys.path.insert(0, "../../tests/clients")
sys.argv = ["triton_kernels.py", "none"]
import triton_kernels
with coalesce.record(device="hopper") as launches:
    triton_kernels.add()
    triton_kernels.softmax()
launches.require("findings == 0", "stores.bytes of k_add == 4 * 5000")
print([kernel.name for kernel in launches], launches["k_softmax"].lines[0].source.strip())
"""
    # What another clone has left in the cache names that clone's files.
    output, errors = python(code, TRITON_CACHE_DIR=str(tmp_path))
    assert output.splitlines()[-1:] and "tl." in output.splitlines()[-1], errors
    assert output.splitlines()[-1].startswith("['k_add', 'k_softmax'] "), output


def test_cuda_python():
    code = """
import coalesce
coalesce.activate()
import sys
sys.path.insert(0, "../../tests/clients")
sys.argv = ["cuda_python.py", "none"]
import cuda_python
with coalesce.record() as launches:
    cuda_python.core_launch()
launches["add"].require("stores.bytes == 4000", "findings == 0")
print(launches)
"""
    output, errors = python(code, CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING="1")
    assert output.splitlines()[-1:] == ["<launches of add>"], errors


def test_tinygrad():
    code = """
import coalesce
with coalesce.record() as launches:
    from tinygrad import Tensor
    assert (Tensor([1, 2, 3]) + 1).tolist() == [2, 3, 4]
launches.require("findings == 0", "loads.bytes == 12")
print(launches)
"""
    output, errors = python(code, DEV="CUDA:PTX")
    assert output.splitlines()[-1:] == ["<launches of E_3>"], errors
