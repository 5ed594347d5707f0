# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""When to warm up, how often to measure and when to stop: the protocol of perf/measure/sampling.h on a host.

The statistics that a row is judged by are made of these samples by `kernelgrade`.
"""

import math
import statistics
from collections.abc import Callable
from time import perf_counter_ns

CLOCK_NS = 5e3  # minimum length of a sample, at which the clock is accurate to half a percent
MOST_BATCH = 1000
WARM_UP_LEAST_NS, WARM_UP_MOST_NS, WARM_UP_AGREEMENT = 20e6, 100e6, 0.03
WINDOWS, WINDOW = 5, 5
LEAST, FEWEST, MOST = 30, 8, 2000
BUDGET_NS, HALF_WIDTH = 0.25e9, 0.01
NORMAL_99 = 2.576  # standard deviations on either side that contain 99 % of a normal distribution


def half_width(samples: list[float]) -> float:
    """Of the 99 % interval of the median between two order statistics, as a share of it."""
    ordered = sorted(samples)
    count = len(ordered)
    rank = math.floor((count - NORMAL_99 * math.sqrt(count)) / 2)  # the normal approximation of the binomial
    if rank < 1:
        return math.inf
    return (ordered[count - rank] - ordered[rank - 1]) / 2 / statistics.median(ordered)


def take_samples(
    run: Callable[[], object], wait: Callable[[object], None], now: Callable[[], float] = perf_counter_ns
) -> tuple[list[float], int]:
    """Nanoseconds of one run each, and how many runs a sample is the mean of."""

    def sample(batch: int) -> float:
        start = now()
        for _ in range(batch):
            wait(run())
        return (now() - start) / batch

    batch = min(max(math.ceil(CLOCK_NS / max(1.0, sample(1))), 1), MOST_BATCH)
    warm: list[float] = []
    start = now()
    while (spent := now() - start) < WARM_UP_MOST_NS:
        warm.append(sample(batch))
        if spent >= WARM_UP_LEAST_NS and len(warm) >= WINDOWS * WINDOW:
            last = warm[-WINDOWS * WINDOW :]
            medians = [statistics.median(last[i : i + WINDOW]) for i in range(0, len(last), WINDOW)]
            if max(medians) - min(medians) <= WARM_UP_AGREEMENT * max(medians):
                break
    samples: list[float] = []
    start = now()
    while len(samples) < MOST:
        samples.append(sample(batch))
        if now() - start >= BUDGET_NS and len(samples) >= FEWEST:
            break
        if len(samples) >= LEAST and len(samples) % LEAST == 0 and half_width(samples) <= HALF_WIDTH:
            break
    return samples, batch
