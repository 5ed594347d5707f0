// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kg::models {

// Parses a text that is one JSON object. Throws Error naming `file` on invalid JSON, on duplicate
// member names (nlohmann alone would keep the last), and on nesting deeper than model files need.
nlohmann::json parse_object(const std::string& text, const std::string& file);

} // namespace kg::models
