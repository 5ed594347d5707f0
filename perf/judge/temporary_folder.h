// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/temporary_folder.h"

namespace kg::judge {

using kg::TemporaryFolder;

} // namespace kg::judge
