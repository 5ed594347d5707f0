// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// The contract's test Pitches: the card's problems `pitches`, whose rows lie apart. What is aligned
// to a pack (16 bytes) beside one stride that is not must not be taken for packs, nor must a row
// that ends within a pack, however wide the pitch.
void pitches(Judge& judge);

} // namespace kg::card
