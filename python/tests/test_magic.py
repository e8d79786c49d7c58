"""`%%coalesce`, in a shell of IPython."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()
assert shell.run_cell("%load_ext coalesce").success
shell.run_cell("import kernels")
with capture_output() as captured:
    assert shell.run_cell("%%coalesce check=race schedules=1\\nkernels.run_histogram()").success
(shown,) = captured.outputs
html = shown.data["text/html"]
assert "<th>kernels::histogram</th>" in html and "race between blocks" in html and "<svg" in html
assert len(shell.user_ns["launches"]["histogram"].findings) > 0
for cell in ["%%coalesce\\n1/0", "%%coalesce x=1\\n1", "%%coalesce '\\n1", "%%coalesce seed=a\\n1"]:
    with capture_output() as captured:
        assert not shell.run_cell(cell).success
    print(captured.stderr.strip().splitlines()[-1:])
"""


def test_a_cell_shows_its_kernels():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env={**os.environ, "IPYTHONDIR": os.devnull},
    )
    assert done.returncode == 0, done.stderr
    assert [line.partition("%%coalesce: ")[2] for line in done.stdout.splitlines()[-4:]] == [
        "the cell failed, see above']",
        "'x=1': give NAME=VALUE, where NAME is of check, device, fault, only, schedules, seed\"]",
        "No closing quotation']",
        "'seed=a': give a whole number\"]",
    ], done.stdout
