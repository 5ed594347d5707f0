// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of CUDA's device runtime (libcudadevrt.a) that programs link for grid barriers, as PTX.
#pragma once

namespace kg::emulate {

// cudaCGGetIntrinsicHandle(scope) and cudaCGSynchronize(handle, flags), which Numba calls for the
// grid. A word of the launch's workspace (%envreg1, %envreg2) counts the blocks that have come; the
// block at (0,0,0) adds what flips the sign bit once all have.
inline constexpr const char* kDeviceRuntime = R"(
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b64 %rd<1>;
  mov.u64 %rd0, 1;
  st.param.b64 [handle], %rd0;
  ret;
}
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  barrier.sync 0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %tid.y;
  or.b32 %r0, %r0, %r1;
  mov.u32 %r1, %tid.z;
  or.b32 %r0, %r0, %r1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra $together;
  mov.u32 %r0, %envreg2;
  mov.u32 %r1, %envreg1;
  cvt.u64.u32 %rd0, %r0;
  cvt.u64.u32 %rd1, %r1;
  bfi.b64 %rd0, %rd1, %rd0, 32, 32;
  mov.u32 %r0, %nctaid.x;
  mov.u32 %r1, %nctaid.y;
  mul.lo.u32 %r0, %r0, %r1;
  mov.u32 %r1, %nctaid.z;
  mul.lo.u32 %r0, %r0, %r1;
  sub.u32 %r2, 0x80000001, %r0;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ctaid.y;
  or.b32 %r3, %r3, %r4;
  mov.u32 %r4, %ctaid.z;
  or.b32 %r3, %r3, %r4;
  setp.eq.u32 %p1, %r3, 0;
  selp.b32 %r2, %r2, 1, %p1;
  atom.add.release.gpu.u32 %r5, [%rd0+4], %r2;
$waiting:
  ld.acquire.gpu.u32 %r6, [%rd0+4];
  xor.b32 %r6, %r6, %r5;
  setp.ge.s32 %p2, %r6, 0;
  @%p2 bra $waiting;
$together:
  barrier.sync 0;
  mov.u32 %r7, 0;
  st.param.b32 [error], %r7;
  ret;
}
)";

} // namespace kg::emulate
