// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study as one HTML file in the report's style, with plots of time against size: no scripts, no
// network.
#pragma once

#include "perf/lab/study/record.h"
#include "perf/lab/study/study.h"

#include <filesystem>
#include <string>

namespace kg::report {

std::string study_html(const study::Study& study, const study::Record& record);

// <name of the record's file>.md and .html in `folder`, each whole or not at all. Returns the
// latter.
std::filesystem::path write_study(const std::filesystem::path& folder,
                                  const std::filesystem::path& record_file,
                                  const study::Study& study, const study::Record& record);

} // namespace kg::report
