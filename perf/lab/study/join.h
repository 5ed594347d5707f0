// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of a study that was divided among machines, as one.
#pragma once

#include "perf/lab/study/record.h"

#include <filesystem>
#include <vector>

namespace kg::study {

// As if the study had not been divided: the plan and the experiments in the order of the points.
// Throws Error, naming files and shards, where one is missing, there twice, not finished or no
// shard at all, and where they are not of one study, kind of machine and program.
Record join(const std::vector<std::filesystem::path>& files);

} // namespace kg::study
