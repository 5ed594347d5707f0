// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that wait for each other in ordinary launches. Arguments: what to run, how many
// blocks, and a third if few are to fit on the device. What a GPU ends prints "right".
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum class Poll { volatile_load, ldcg, add_nothing, compare_and_swap, sleep };

template <Poll kPoll>
__device__ unsigned look(unsigned* flag) {
  switch (kPoll) {
  case Poll::volatile_load: return *(volatile unsigned*)flag;
  case Poll::ldcg: return __ldcg(flag);
  case Poll::add_nothing: return atomicAdd(flag, 0);
  case Poll::compare_and_swap: return atomicCAS(flag, 0, 0);
  case Poll::sleep: __nanosleep(100); return atomicOr(flag, 0);
  }
  return 0;
}

// All blocks of the grid meet, twice.
template <Poll kPoll>
__global__ void barrier(unsigned* arrived, int* sum) {
  for (unsigned phase = 1; phase <= 2; ++phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (look<kPoll>(arrived) < phase * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, 1);
}

// One block waits for what the other writes.
__global__ void hand_over(unsigned* flag, int* value, int* out, unsigned producer) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == producer) {
    *value = 41;
    __threadfence();
    atomicExch(flag, 1);
  } else if (blockIdx.x + producer + 1 == gridDim.x) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *value + 1;
  }
}

// Every block but the last waits for the last one.
__global__ void wait_for_last(unsigned* flag) {
  if (blockIdx.x + 1 == gridDim.x) {
    atomicExch(flag, 1);
    return;
  }
  while (atomicAdd(flag, 0) == 0) {
  }
}

// A prefix sum of the blocks' numbers, by look-back.
__global__ void look_back(unsigned* status, int* sums, int* prefix) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (*(volatile unsigned*)&status[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = prefix[blockIdx.x - 1];
    }
    prefix[blockIdx.x] = before + sums[blockIdx.x];
    __threadfence();
    *(volatile unsigned*)&status[blockIdx.x] = 1;
  }
}

__global__ void ticket_lock(unsigned* next, unsigned* serving, int* counter) {
  if (threadIdx.x == 0) {
    const unsigned mine = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != mine) {
    }
    __threadfence();
    *(volatile int*)counter = *(volatile int*)counter + 1;
    __threadfence();
    atomicAdd(serving, 1);
  }
}

// Lane 0 takes lock 0 and then lock 1, lane 1 the other way round.
__global__ void locks(unsigned* lock, bool crossed) {
  if (threadIdx.x > 1) return;
  const unsigned first = crossed ? threadIdx.x : 0;
  while (atomicCAS(&lock[first], 0u, 1u) != 0) {
  }
  if (crossed) __syncwarp(3);
  while (atomicCAS(&lock[1 - first], 0u, 1u) != 0) {
  }
  atomicExch(&lock[1 - first], 0u);
  atomicExch(&lock[first], 0u);
}

// Of shared memory, which each block asks for: with as much as there may be, 16 blocks are
// resident.
unsigned room = 0;
template <class Kernel>
void give_room(Kernel kernel) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room));
}

template <Poll kPoll>
void run_barrier(unsigned blocks, unsigned* flags, int* out) {
  give_room(barrier<kPoll>);
  barrier<kPoll><<<blocks, 64, room>>>(flags, out);
}

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "barrier";
  const unsigned blocks = count > 2 ? unsigned(std::atoi(words[2])) : 64;
  if (count > 3) room = 163 * 1024;
  give_room(wait_for_last);
  bool is_known = false;
  const auto is = [&](const char* name) {
    const bool is_it = std::strcmp(what, name) == 0;
    is_known |= is_it;
    return is_it;
  };
  unsigned* flags;
  int *out, *numbers, *prefix, result = 0;
  unsigned wanted = 0;
  cudaMalloc(&flags, 4096 * sizeof *flags);
  cudaMalloc(&out, 2 * sizeof *out);
  cudaMalloc(&numbers, 4096 * sizeof *numbers);
  cudaMalloc(&prefix, 4096 * sizeof *prefix);
  cudaMemset(flags, 0, 4096 * sizeof *flags);
  cudaMemset(out, 0, 2 * sizeof *out);
  int ones[4096];
  for (int& one : ones) one = 1;
  cudaMemcpy(numbers, ones, sizeof ones, cudaMemcpyHostToDevice);
  const int* from = out;
  if (is("volatile")) run_barrier<Poll::volatile_load>(blocks, flags, out), wanted = blocks;
  if (is("ldcg")) run_barrier<Poll::ldcg>(blocks, flags, out), wanted = blocks;
  if (is("add")) run_barrier<Poll::add_nothing>(blocks, flags, out), wanted = blocks;
  if (is("cas")) run_barrier<Poll::compare_and_swap>(blocks, flags, out), wanted = blocks;
  if (is("sleep")) run_barrier<Poll::sleep>(blocks, flags, out), wanted = blocks;
  if (is("forth")) hand_over<<<blocks, 32>>>(flags, out + 1, out, 0), wanted = 42;
  if (is("back")) hand_over<<<blocks, 32>>>(flags, out + 1, out, blocks - 1), wanted = 42;
  if (is("last")) wait_for_last<<<blocks, 32, room>>>(flags);
  if (is("look_back")) {
    look_back<<<blocks, 32>>>(flags, numbers, prefix);
    from = prefix + blocks - 1;
    wanted = blocks;
  }
  if (is("ticket")) ticket_lock<<<blocks, 32>>>(flags, flags + 1, out), wanted = blocks;
  if (is("ordered_locks")) locks<<<1, 32>>>(flags, false);
  if (is("crossed_locks")) locks<<<1, 32>>>(flags, true);
  if (!is_known) return 2;
  const cudaError_t error = cudaMemcpy(&result, from, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(flags);
  cudaFree(out);
  cudaFree(numbers);
  cudaFree(prefix);
  puts(error != cudaSuccess         ? cudaGetErrorString(error)
       : unsigned(result) == wanted ? "right"
                                    : "wrong");
  return error != cudaSuccess || unsigned(result) != wanted;
}
