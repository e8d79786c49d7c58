"""The driver is this process's before a test imports numba."""

import coalesce

coalesce.activate()
