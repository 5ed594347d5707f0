// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kg::models {

// A text that is one JSON object, in which no object has two members of one name (nlohmann alone
// would keep the last) and nothing lies deeper than files of models need. Throws Error that names
// `file`.
nlohmann::json parse_object(const std::string& text, const std::string& file);

} // namespace kg::models
