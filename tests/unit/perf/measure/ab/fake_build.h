// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// This test program as a build of `kernelgrade`: called with `run`, it writes a result of known
// times for the rows of --batch. What it does to them is set by environment variables, so that one
// program plays all arms:
//   FAKE_NS       the median of every row (default 1000)
//   FAKE_NOISY    a case that takes 6 % longer where --shuffle is even
//   FAKE_CRASH    a case whose process dies by a signal
//   FAKE_HANG     a case whose process never ends
//   FAKE_WRONG    a case whose output is wrong
//   FAKE_UNKNOWN  a case that this build does not know: called wrongly, exit code 2
//   FAKE_MISSING  a case that is left out of the result
//   FAKE_LOG      a file to which each process appends "<--source-id> <--shuffle> <number of rows>"
#pragma once

namespace kg::ab::test {

// The exit code of the fake command.
int fake_build(int argc, char** argv);

} // namespace kg::ab::test
