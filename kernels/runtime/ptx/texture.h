// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches of code made from PTX (prelude.h). Where a texel lies and how texels are filtered
// is the CUDA runtime's to say (cuda/binary/textures.cpp). The kernel's own code loads them, so
// that the checkers see it.
#pragma once

#include "runtime/ptx/integers.h"
#include "runtime/ptx/where.h"

namespace kg::ptx_run {

using LoadChannel = u32 (*)(const void* from, u32 bytes); // zero-extended

// One fetch from a texture object of one or two dimensions. at: a coordinate for each, as the bits
// of an f32, or of an s32 where it counts texels. channels: 's', 'u' or 'f', what the instruction
// returns in `out`, four values of 32 bits; those that the texture lacks are 0.
void fetch_texture(u32* out, u64 object, const u32* at, u32 dimensions, bool by_index,
                   char channels, LoadChannel load, Where where);

} // namespace kg::ptx_run
