// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins the files of a study that was divided among machines.
#pragma once

#include "perf/lab/study/record.h"

#include <filesystem>
#include <vector>

namespace kg::study {

// As if the study had not been divided: the plan and the experiments in the order of the points.
// Throws Error, naming files and shards, if one is missing, duplicate, unfinished or not a shard,
// or if they differ in study, kind of machine or program.
Record join(const std::vector<std::filesystem::path>& files);

} // namespace kg::study
