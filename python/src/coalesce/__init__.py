"""CUDA programs on a simulated GPU: what their kernels count, and the faults that checks find.

>>> with coalesce.record() as launches:
...     transpose[1, (32, 32)](a, out)
>>> launches["transpose"].counters["shared.bank_conflicts"]
>>> launches.require("shared.bank_conflicts == 0")
"""

from ._driver import CoalesceError, activate
from ._launches import Finding, Kernel, Launches, Line, Picture
from ._record import record
from .magic import load_ipython_extension

__all__ = [
    "CoalesceError",
    "Finding",
    "Kernel",
    "Launches",
    "Line",
    "Picture",
    "activate",
    "load_ipython_extension",
    "record",
]
