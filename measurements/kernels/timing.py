"""Times a launch by the rules of `docs/TIMING.md`: cold and warm, until the median is steady.

The numbers and names are those of `host/src/timing/`.
"""

import time
from statistics import median

SAMPLE_MS = 0.5  # how long a warm sample lasts
LONG_MS = 5.0  # a longer launch needs no lead
WARM_UP = 0.05  # seconds
FEWEST, MOST = 11, 1001  # samples
MOST_LAUNCHES = 1000  # in a sample
MOST_FILLS = 50  # to keep the GPU busy while launches are submitted
NOISE = 0.005  # the median is steady when its standard error is below this part of it
LEAST = 0.02  # seconds of samples
READING_EVERY = 0.05  # seconds between readings of the clock
READING_MS = 2.0  # how long the GPU works meanwhile
RECOVERY = 0.05  # seconds to wait after samples at a low clock
HOST_BOUND = 1.5


def quantile(ordered, part):
    """A mid-distribution quantile: equal samples stand at the middle of their ranks."""
    place, rank, before, i = part * len(ordered), 0, None, 0
    while i < len(ordered):
        value, count = ordered[i], 1
        while i + count < len(ordered) and ordered[i + count] == value:
            count += 1
        middle = rank + count / 2
        if middle >= place:
            if before is None:
                return value
            lower, lower_middle = before
            return lower + (value - lower) * (place - lower_middle) / (middle - lower_middle)
        before, rank, i = (value, middle), rank + count, i + count
    return ordered[-1]


def quartiles(samples):
    ordered = sorted(samples)
    return [quantile(ordered, part) for part in (0.25, 0.5, 0.75)]


def relative_error(lower, middle, upper, samples):
    """The standard error of the median over the median."""
    return 1.2533 * (upper - lower) / 1.349 / samples**0.5 / middle if middle > 0 else 0.0


class Stopwatch:
    """Times one launch on a GPU."""

    def __init__(self, gpu, work):
        self.gpu, self.work = gpu, work
        self.submission_ms = self.launch_ms = 0.0

    def sample(self, launches):
        submitted = 0.0

        def all_of_them():
            nonlocal submitted
            begin = time.perf_counter()
            for _ in range(launches):
                self.work()
            submitted = (time.perf_counter() - begin) * 1e3

        elapsed = self.gpu.timed(all_of_them)
        self.submission_ms, self.launch_ms = submitted / launches, elapsed / launches
        return elapsed

    def lead(self, launches):
        """Keeps the GPU busy while the launches are submitted; ends with a launch."""
        if HOST_BOUND * self.submission_ms > self.launch_ms:
            fills = -(-launches * self.submission_ms // max(self.gpu.flush_ms, 1e-3))
            for _ in range(int(min(fills, MOST_FILLS))):
                self.gpu.flush()
        self.work()

    def clock(self, launches):
        if not self.gpu.nvml.nvml:
            return None
        for _ in range(launches):
            self.work()
        reading = self.gpu.nvml.clock()
        self.gpu.synchronize()
        return reading

    def warm_up(self, limit):
        begin = time.perf_counter()
        estimate = self.sample(1)
        while time.perf_counter() - begin < min(limit, WARM_UP):
            estimate = self.sample(1)
        return min(estimate, self.sample(4) / 4)

    def measure(self, limit):
        """The cold and the warm series. Large data is flushed too: a launch may use a part of it."""
        self.gpu.reset_l2_priorities()
        begin = time.perf_counter()
        self.estimate_ms = self.warm_up(limit / 4)
        cold = self.series("flushed", begin + limit / 2)
        return cold, self.series("warm", begin + limit)

    def launches_of(self, milliseconds):
        return int(min(max(-(-milliseconds // max(self.estimate_ms, 1e-6)), 1), MOST_LAUNCHES))

    def series(self, cache, end):
        launches = 1 if cache == "flushed" else self.launches_of(SAMPLE_MS)
        samples, readings, dropped, kept = [], [], 0, 0
        begin = last_reading = time.perf_counter()
        while True:
            if cache == "flushed":
                self.gpu.reset_l2_priorities()
                self.gpu.flush()
            elif self.estimate_ms < LONG_MS:
                self.lead(launches)
            samples.append(self.sample(launches) / launches)
            now = time.perf_counter()
            up = len(samples) >= MOST or now >= end
            if not up and (len(samples) < FEWEST or len(samples) % 10):
                continue  # the quartiles cost more than a sample
            lower, middle, upper = quartiles(samples)
            steady = (len(samples) >= FEWEST and (up or now - begin >= LEAST)
                      and relative_error(lower, middle, upper, len(samples)) < NOISE)
            if not steady and not up and now - last_reading < READING_EVERY:
                continue
            reading = self.clock(self.launches_of(READING_MS))
            last_reading = time.perf_counter()
            if reading:
                mhz, highest, held_by = reading
                if mhz < 0.75 * highest and set(held_by) - {"setting"} and not up:
                    dropped += len(samples) - kept
                    del samples[kept:]
                    time.sleep(RECOVERY)
                    continue
                # A low clock without a reason is that of a GPU that has just become idle.
                if mhz >= 0.95 * highest or held_by:
                    readings.append(reading)
            kept = len(samples)
            if steady or up:
                break
        low = [reading for reading in readings if reading[0] < 0.95 * reading[1]]
        return {
            "time_ms": middle,
            "time_lower_quartile_ms": lower,
            "time_upper_quartile_ms": upper,
            "spread_percent": (upper - lower) / 2 / middle * 100,
            "samples": len(samples),
            "launches_per_sample": launches,
            "cache": cache,
            "steady": steady,
            "sm_clock_mhz": median(r[0] for r in readings) if readings else None,
            "throttled_by": (sorted({why for r in low for why in r[2]})
                             if 2 * len(low) > len(readings) else None),
            "dropped_samples": dropped,
        }
