// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"

#include <system_error>

namespace kg {

void fail(const std::string& message, Location where) {
  throw Error(std::string(where.file) + ":" + std::to_string(where.line) + ": " + message);
}

std::string system_error_text(int error) { return std::generic_category().message(error); }

void check_status(const Status& status, const char* expression, Location where) {
  if (!status.ok) fail(std::string(expression) + " failed: " + status.text, where);
}

} // namespace kg
