// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/quantised_matmul.h"

namespace kg::vendor {

// No library of the host has a product with scales of rows and columns.
const Table<QuantisedVariant> quantised_matmul_table = {};

} // namespace kg::vendor
