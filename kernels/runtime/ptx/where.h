// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::ptx_run {

// The source location of an instruction, for messages: a line of the `.cu` file, or of the PTX.
struct Where {
  const char* file;
  int line;
};

} // namespace kg::ptx_run
