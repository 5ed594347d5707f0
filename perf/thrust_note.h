// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/backend.h"

#include <string>
#include <string_view>

namespace kg::perf {

// Of the library variants of operations whose results Thrust returns to the caller.
inline std::string thrust_note(std::string_view variant) {
  if (backend != Backend::cuda || variant != "thrust") return "";
  return "Thrust's call allocates, waits for the stream and frees: its times have that in them, "
         "hot ones, too";
}

} // namespace kg::perf
