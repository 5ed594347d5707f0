// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study as one HTML file in the report's style, with plots of time against size. No scripts, no
// network access.
#pragma once

#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"

#include <filesystem>
#include <string>

namespace kg::report {

std::string study_html(const study::Study& study, const study::Record& record);

// Writes <name of the record's file>.md and .html into `folder`, each atomically. Returns the path
// of the .html file.
std::filesystem::path write_study(const std::filesystem::path& folder,
                                  const std::filesystem::path& record_file,
                                  const study::Study& study, const study::Record& record);

} // namespace kg::report
