// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts results of other tools into our own, for the same judge:
//
//   tool              file                              a sample is             mode
//   NVBench           --json with --jsonbin next to it  one isolated launch     cold (CPU: real)
//                     --json alone                      the median, else mean   cold, batch: hot
//   Google Benchmark  --benchmark_out_format=json       one repetition          real
//   CUTLASS profiler  --output=<name>.csv               the only runtime        hot
//
// A file is one process, so distinguishing a change from noise needs several files of one build.
// Case ids are <op>.<dtype>.<parameters> as everywhere, built from the tools' own names:
//
//   NVBench           benchmark . value of the first type axis . axes and their values
//   Google Benchmark  name up to '<' or '/' . template arguments . the rest of the name
//   CUTLASS profiler  operation kind . type of A . all arguments that do not describe the kernel
//
// A missing type is "any", no parameters are "all", and '_' replaces every run of characters that
// an id may not contain. The variant is "imported"; for CUTLASS it is the operation, and for other
// providers that ran there (a vendor's row) provider and operation.
#pragma once

#include "perf/judge/result.h"

#include <filesystem>

namespace kg::imports {

// Reads our own results as well. Detects the format from the contents. Throws kg::Error with file,
// position, reason and fix.
judge::Results load_any(const std::filesystem::path& path);

} // namespace kg::imports
