#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a part of the tests labelled mutants or nightly, as long as the clock allows.

The tests are dealt to slices of about equal duration. A commit runs the slice that follows from its
number in the history and, while there is time, the next ones; first come the tests of what it changed:
of the operation op_<name> where a folder or a file has this name, of the tool of_<name> where a word of
a path is this name. Tests that share a fixture (a program that is built for them) are one unit. What the
time did not allow is named.
"""
import argparse
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

SLICES = 24
TIERS = {'mutants', 'nightly'}
# Seconds on two fast cores, by the first word of a test's name; families missing from the file take about ten.
DURATIONS = 'tests/ci/durations.csv'
UNKNOWN_SECONDS = 10.0


class Unit:
    """Tests that run together: one, or all that need the same fixture."""

    def __init__(self, key):
        self.key, self.names, self.numbers, self.subjects, self.seconds = key, [], [], set(), 0.0


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def recorded_durations():
    with open(DURATIONS, encoding='utf-8') as file:
        lines = [line.split(',') for line in file.read().splitlines()[1:]]
    return {family: float(seconds) for family, seconds in lines}


def record_durations(build):
    """Writes the mean of what CTest has measured in this build tree, for the families of which it has run a test."""
    measured = collections.defaultdict(list)
    families = {name.split('.')[0] for unit in all_units(build).values() for name in unit.names}
    with open(f'{build}/Testing/Temporary/CTestCostData.txt', encoding='utf-8') as file:
        for line in file:
            words = line.split() # test name, runs, mean seconds (random with --schedule-random); then the last failures
            if len(words) == 3 and words[1] != '0' and float(words[2]) < 7200 and words[0].split('.')[0] in families:
                measured[words[0].split('.')[0]].append(float(words[2]))
    durations = recorded_durations() | {family: max(1.0, sum(each) / len(each)) for family, each in measured.items()}
    with open(DURATIONS, 'w', encoding='utf-8') as file:
        file.write('family,seconds\n' + ''.join(f'{family},{durations[family]:.0f}\n' for family in sorted(durations)))
    print(f'{DURATIONS}: {len(measured)} families of {len(durations)} as measured in {build}')


def listed_tests(build):
    """The tests of the build tree, in order. CTest truncates LastTest.log of the folder in which it lists tests, even while a run writes
    it there, so it lists them from a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/CTestTestfile.cmake', 'w', encoding='utf-8') as file:
            file.write(f'subdirs("{os.path.abspath(build)}")\n')
        return json.loads(output('ctest', '--test-dir', folder, '--show-only=json-v1'))['tests']


def all_units(build, families=()):
    """The units of the build tree, by key; of these families alone, where some are named."""
    durations = recorded_durations()
    units = {}
    for number, test in enumerate(listed_tests(build), 1):
        values = {each['name']: each['value'] for each in test.get('properties', [])}
        labels = set(values.get('LABELS', []))
        if not labels & TIERS or values.get('FIXTURES_SETUP'):
            continue
        name = test['name']
        if families and name.split('.')[0] not in families:
            continue
        key = ' '.join(values.get('FIXTURES_REQUIRED', [])) or name
        unit = units.setdefault(key, Unit(key))
        unit.names.append(name)
        unit.numbers.append(number)
        unit.subjects |= {label for label in labels if label.startswith(('op_', 'of_'))}
        unit.seconds += durations.get(name.split('.')[0], UNKNOWN_SECONDS)
    present = {name.split('.')[0] for unit in units.values() for name in unit.names}
    missing = sorted(set(families) - present) if families else [] if units else ['any']
    if missing:
        sys.exit(f'slice: {build} has no nightly test of the family {", ".join(missing)}; build it, or name other --families')
    return units


def dealt(units):
    """The keys of each slice: the longest unit first, each to the slice with the least so far."""
    slices = [[] for _ in range(SLICES)]
    loads = [0.0] * SLICES
    for unit in sorted(units.values(), key=lambda each: (-each.seconds, each.key)):
        least = loads.index(min(loads))
        slices[least].append(unit.key)
        loads[least] += unit.seconds
    return slices, loads


def default_number():
    """The commit's number in the history; of its hash in a shallow clone, where nobody knows it."""
    git = ('git', '-c', f'safe.directory={os.getcwd()}')
    if output(*git, 'rev-parse', '--is-shallow-repository').strip() == 'true':
        return int(output(*git, 'rev-parse', 'HEAD')[:8], 16) % SLICES
    return int(output(*git, 'rev-list', '--count', 'HEAD')) % SLICES


def changed_subjects(base, subjects):
    """The labels of what the change touches, and why none is known."""
    git = ('git', '-c', f'safe.directory={os.getcwd()}')
    try:
        paths = output(*git, 'diff', '--name-only', base, 'HEAD').splitlines()
    except subprocess.CalledProcessError:
        return set(), f'{base} is not in this clone'
    parts = {re.sub(r'\.\w+$', '', part) for path in paths for part in path.split('/')}
    words = {word for path in paths for word in re.split(r'[^A-Za-z0-9]+', path)}
    return subjects & ({f'op_{part}' for part in parts} | {f'of_{word}' for word in words}), ''


def run_batch(build, units, log, seconds):
    """Runs the units' tests for so many seconds: (whether one failed, those without a result). What CTest printed goes to the log, too."""
    numbers = ','.join(str(number) for unit in units for number in sorted(unit.numbers))
    command = ['ctest', '--test-dir', build, '--output-on-failure', '--no-tests=error', '-j', str(os.cpu_count()),
               '-I', f'0,0,0,{numbers}']
    ended = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          start_new_session=True) as ctest:
        clock = threading.Timer(max(seconds, 1), os.killpg, (ctest.pid, signal.SIGKILL))
        clock.start()
        for line in ctest.stdout:
            log.write(line)
            print(line, end='', flush=True)
            if found := re.match(r' *\d+/\d+ Test +#\d+: (\S+) \.*(.*)', line):
                ended[found.group(1)] = found.group(2).startswith(('   Passed', '***Skipped'))
        clock.cancel()
    left = [name for unit in units for name in unit.names if name not in ended]
    # If the time limit killed CTest, the slice failed if a test did; otherwise CTest must report failure or the outcome of every test.
    stopped = ctest.returncode == -signal.SIGKILL
    return not all(ended.values()) or (not stopped and (ctest.returncode != 0 or bool(left))), left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/host', help='build tree (default: %(default)s)')
    parser.add_argument('--number', type=int, choices=range(SLICES), help='slice (default: follows from the commit)')
    parser.add_argument('--base', default='HEAD~1', help='what changed since this commit runs first (default: %(default)s)')
    parser.add_argument('--seconds', type=int, help='when to stop (needed without --list)')
    parser.add_argument('--log', default='build/slice.log', help="CTest's output (default: %(default)s)")
    parser.add_argument('--list', action='store_true', help='print the units and their estimated seconds, and run nothing')
    parser.add_argument('--record', action='store_true', help=f'write the durations that CTest measured here into {DURATIONS}, and run nothing')
    parser.add_argument('--families', type=lambda text: text.split(','), default=[], help="first words of tests' names, as checked,ptx (default: all)")
    options = parser.parse_args()
    if options.record:
        record_durations(options.build)
        return 0
    if options.seconds is None and not options.list:
        parser.error('--seconds: for how long?')

    units = all_units(options.build, options.families)
    slices, loads = dealt(units)
    number = default_number() if options.number is None else options.number
    changed, why = changed_subjects(options.base, {subject for unit in units.values() for subject in unit.subjects})
    first = sorted(key for key, unit in units.items() if unit.subjects & changed)
    print(f'slice {number} of {SLICES}: {len(slices[number])} units, estimated {loads[number] / 60:.0f} CPU minutes on a fast core')
    print(f'changed since {options.base}: {", ".join(sorted(changed)) or why or "nothing that has tests here"}')
    if options.list:
        for key in first + [key for key in slices[number] if key not in set(first)]:
            print(f'{units[key].seconds:8.1f} s  {" ".join(units[key].names)}')
        return 0
    plan = first + [key for other in range(SLICES) for key in slices[(number + other) % SLICES] if key not in set(first)]

    cores = os.cpu_count()
    begin, estimated, ran, left_out, failed = time.monotonic(), 0.0, 0, [], False
    waiting = collections.deque(plan)
    with open(options.log, 'w', encoding='utf-8') as log:
        while waiting:
            spent = time.monotonic() - begin
            # The estimates are from another machine, so a sample of at least 15 seconds is needed first.
            slowness = spent / estimated if estimated > 15 else 3.0
            allowed = (options.seconds - spent) / slowness * cores
            batch, expected = [], 0.0
            while waiting and (not batch or expected + units[waiting[0]].seconds < 60 * cores):
                unit = units[waiting.popleft()]
                if expected + unit.seconds > allowed:
                    left_out += unit.names
                    continue
                batch.append(unit)
                expected += unit.seconds
            if batch:
                one_failed, unfinished = run_batch(options.build, batch, log, options.seconds - (time.monotonic() - begin))
                failed |= one_failed
                left_out += unfinished
                estimated += expected / cores
                ran += len(batch)
    print(f'\nfrom slice {number} on: ran {ran} of {len(plan)} units in {time.monotonic() - begin:.0f} s')
    if left_out:
        print(f'left out by the clock ({options.seconds} s): {len(left_out)} tests: {" ".join(left_out)}')
    if not ran:
        sys.exit('slice: no unit fits into this time')
    if failed:
        families = f' --families {",".join(options.families)}' if options.families else ''
        print(f'again: .ci/slice.py --number {number} --seconds 3600{families}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
