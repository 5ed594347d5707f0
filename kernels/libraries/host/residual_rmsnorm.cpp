// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// No variants, for the reason given in libraries/host/rmsnorm.cpp.
#include "libraries/residual_rmsnorm.h"

namespace kg::vendor {

const Table<ResidualRmsnormVariant> residual_rmsnorm_table = {};

} // namespace kg::vendor
