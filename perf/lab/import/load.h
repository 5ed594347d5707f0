// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Results that other tools wrote, as our own, so that the same judge may look at them:
//
//   tool              file                              a sample is             mode
//   NVBench           --json, beside it --jsonbin       one isolated launch     cold (CPU only:
//   real)
//                     --json alone                      the median, else mean   cold, batch: hot
//   Google Benchmark  --benchmark_out_format=json       one repetition          real
//   CUTLASS profiler  --output=<name>.csv               the one runtime         hot
//
// A file is one process, so several files of one build are needed to tell a change from noise. Case
// ids are <op>.<dtype>.<parameters> as everywhere, made of what the tools call
//
//   NVBench           benchmark . value of the first type axis . axes and their values
//   Google Benchmark  name up to '<' or '/' . template arguments . the rest of the name
//   CUTLASS profiler  operation kind . type of A . all arguments that do not describe the kernel
//
// with "any" for a missing type, "all" for no parameters, and '_' for every run of characters that
// an id may not hold. The variant is "imported", of CUTLASS the operation, and of what other
// providers ran there (a vendor's row) provider and operation.
#pragma once

#include "perf/judge/result.h"

#include <filesystem>

namespace kg::imports {

// Reads our own results as well. The format is recognised by what the file holds. Throws kg::Error
// with file, position, what is wrong and the fix.
judge::Results load_any(const std::filesystem::path& path);

} // namespace kg::imports
