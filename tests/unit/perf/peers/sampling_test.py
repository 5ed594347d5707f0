# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The frameworks' protocol, on invented time."""

import random
import unittest

from kernelgrade_peers.sampling import BUDGET_NS, FEWEST, LEAST, half_width, take_samples


class Machine:
    """Whose runs take as long as `cost` says."""

    def __init__(self, cost):
        self.time, self.cost, self.waits = 0.0, cost, 0

    def run(self):
        self.time += self.cost()

    def wait(self, _):
        self.waits += 1

    def sample(self):
        return take_samples(self.run, self.wait, lambda: self.time)


class Sampling(unittest.TestCase):
    def test_a_steady_run_takes_the_least_number_of_samples(self):
        samples, batch = Machine(lambda: 1e6).sample()
        self.assertEqual((samples, batch), ([1e6] * LEAST, 1))

    def test_a_short_run_is_timed_several_in_a_row(self):
        machine = Machine(lambda: 100.0)
        samples, batch = machine.sample()
        self.assertEqual(batch, 50)
        self.assertAlmostEqual(samples[0], 100.0)
        self.assertGreaterEqual(machine.waits, 50 * LEAST)  # each run is waited for

    def test_a_long_run_stops_when_the_time_is_spent(self):
        samples, _ = Machine(lambda: BUDGET_NS).sample()
        self.assertEqual(len(samples), FEWEST)

    def test_noise_takes_more_samples(self):
        noise = random.Random(1)
        samples, _ = Machine(lambda: noise.uniform(0.8e5, 1.2e5)).sample()
        self.assertGreater(len(samples), LEAST)

    def test_the_interval_of_few_samples_is_unknown(self):
        self.assertEqual(half_width([1.0] * 6), float("inf"))
        self.assertEqual(half_width([1.0] * 30), 0.0)


if __name__ == "__main__":
    unittest.main()
