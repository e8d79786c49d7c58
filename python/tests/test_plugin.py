"""The pytest plugin, on a suite with planted bugs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

SUITE = """
import coalesce
import kernels
import pytest

@pytest.mark.gpu_goal("loads.sectors <= 1.05 * loads.bytes / 32", "findings == 0")
def test_well():
    kernels.run_transpose()

@pytest.mark.gpu_goal("shared.bank_conflicts == 0")
def test_conflict():
    kernels.run_transpose()

def test_race():
    kernels.run_histogram()

def test_own_block():
    with coalesce.record() as launches:
        kernels.run_histogram()
    assert launches.findings

@pytest.mark.gpu_goal("banks == 0")
def test_wrong_goal():
    kernels.run_transpose()

def test_fails():
    kernels.run_transpose()
    assert False

def test_without_a_gpu():
    pass
"""


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE)
    folder = tmp_path / "temporary"
    folder.mkdir()

    def run(*flags):
        command = [sys.executable, "-m", "pytest", "-W", "ignore", "-p", "no:cacheprovider", *flags]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "200", "TMPDIR": str(folder)},
        )
        assert list(folder.glob("coalesce-*")) == []
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize("flags", [("--coalesce=hopper",), ("-n", "2", "--coalesce")])
def test_findings_and_missed_goals_fail_a_test(suite, flags):
    code, text = suite(*flags)
    failed = {*re.findall(r"^FAILED test_suite.py::(\w+)", text, re.MULTILINE)}
    assert failed == {"test_conflict", "test_race", "test_wrong_goal", "test_fails"}, text
    assert code == 1 and "4 failed, 3 passed" in text
    assert re.search(r"missed shared.bank_conflicts == 0: 992; .*kernels.py:\d+ has 992", text)
    assert "kernel kernels::histogram: race between blocks" in text
    assert "gpu_goal: unknown metric 'banks'" in text
    # Four tests launch it, on both workers. The launch in a block of its own is not here.
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if "kernels::" in line}
    transpose = rows["kernels::transpose"]
    assert (transpose[0], transpose[1], transpose[4]) == ("4", "0", str(4 * 992)), text
    assert rows["kernels::histogram"][:2] == ["1", "1"]


@pytest.mark.parametrize("words", [["test_suite.py"], ["test_suite.py::test_race"], ["."]])
def test_a_path_after_the_flag_is_no_gpu(suite, words):
    code, text = suite("--coalesce", *words, "-k", "race or without_a_gpu")
    assert code == 1 and "race between blocks" in text and "no GPU" not in text, text


def test_without_the_flag_nothing_happens(suite):
    code, text = suite("-k", "without_a_gpu or race")
    assert code == 0 and "2 passed" in text and "simulated GPU" not in text, text


def test_wrong_flags_are_one_line(suite):
    code, text = suite("--coalesce", "voodoo")
    assert code == 4 and "ERROR: --coalesce: cannot record: COALESCE_DEVICE: there is" in text, text
    code, text = suite("--coalesce", "--coalesce-check=banks")
    assert code == 4 and "ERROR: --coalesce: cannot record: COALESCE_CHECK: unknown" in text, text
