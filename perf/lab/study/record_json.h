// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of a study's file.
#pragma once

#include "perf/lab/study/record.h"

#include <map>
#include <string>
#include <string_view>

namespace kg::study {

// One line each, without the newline.
std::string to_json(const Header& header);
std::string to_json(const Experiment& experiment);

// `where` is file and line, for messages. Both throw Error on anything that to_json does not write.
Header header_from_json(std::string_view line, const std::string& where);
Experiment experiment_from_json(std::string_view line, const std::string& where);

} // namespace kg::study
