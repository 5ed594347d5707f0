// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/execution.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::Phase;
using models::Run;
using models::Tape;
using models::Tensor;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Copies `from` to `to`.
models::Step copy(Tensor from, Tensor to) {
  return {.op = "copy", .reads = {from}, .writes = {to}, .run = [=](const Run& run) {
            copy_on_device(run.at.at(to), run.at.at(from), static_cast<std::size_t>(to.bytes()),
                           run.stream);
          }};
}

TEST(Tape, RefusesToReadWhatNobodyHasWritten) {
  Tape tape;
  const Tensor a = tape.temporary("a", 2, 2), b = tape.temporary("b", 2, 2);
  EXPECT_THAT([&] { tape.step(copy(a, b)); }, ThrowsMessage<Error>(HasSubstr("copy reads a")));
}

TEST(Tape, RefusesATemporaryThatNoStepWrites) {
  Tape tape;
  tape.temporary("forgotten", 2, 2);
  EXPECT_THAT([&] { tape.lifetimes(); }, ThrowsMessage<Error>(HasSubstr("forgotten")));
}

TEST(Tape, RefusesPartsThatAreNotTheWhole) {
  Tape tape;
  EXPECT_THROW(tape.parameter({.value = {-1, 5, 2}, .parts = {{"a", 2}, {"b", 2}}}), Error);
}

TEST(Tape, ATensorLivesFromItsFirstWriterToItsLastReader) {
  Tape tape;
  const Tensor x = tape.input("x", 4, 64);
  const Tensor a = tape.temporary("a", 4, 64), b = tape.temporary("b", 4, 64);
  const Tensor c = tape.temporary("c", 4, 64), d = tape.temporary("d", 4, 64);
  tape.step(copy(x, a));
  tape.step(copy(a, b));
  tape.step(copy(b, c)); // a is dead, c takes its place
  tape.step(copy(c, d));
  tape.keep(d);
  Stream stream;
  Execution execution(std::move(tape), stream);
  EXPECT_EQ(execution.placement().offsets[static_cast<std::size_t>(a.id)],
            execution.placement().offsets[static_cast<std::size_t>(c.id)]);
  std::vector<float> values(256, 3);
  execution.write(x, values);
  execution.poison_unused(true);
  execution.run(Phase::forward);
  EXPECT_EQ(execution.read(d), values);
  EXPECT_THAT([&] { execution.read(b); }, ThrowsMessage<Error>(HasSubstr("Tape::keep")));
  execution.check_memory();
}

TEST(Tape, MemoryThatIsNotThereIsRefused) {
  Tape tape;
  tape.input("x", std::int64_t{1} << 30, std::int64_t{1} << 14); // 64 TiB
  Stream stream;
  EXPECT_THAT([&] { Execution execution(std::move(tape), stream); },
              ThrowsMessage<Error>(HasSubstr("are free")));
}

TEST(Tape, AnOperationThatAllocatesIsFound) {
  Tape tape;
  const Tensor x = tape.input("x", 1, 1);
  tape.step(
      {.op = "greedy", .reads = {x}, .run = [](const models::Run&) { Allocation hidden(64); }});
  Stream stream;
  Execution execution(std::move(tape), stream);
  execution.run(Phase::forward);
  EXPECT_THAT([&] { execution.check_memory(); }, ThrowsMessage<Error>(HasSubstr("allocates")));
}

TEST(Tape, ALifetimeThatIsTooShortIsPoisoned) {
  Tape tape;
  const Tensor x = tape.input("x", 1, 1), a = tape.temporary("a", 1, 1);
  const Tensor b = tape.temporary("b", 1, 1);
  tape.keep(b);
  tape.step(copy(x, a));
  models::Step forgetful = copy(a, b);
  forgetful.reads = {x}; // it does not say that it reads a
  tape.step(forgetful);
  Stream stream;
  Execution execution(std::move(tape), stream);
  execution.write(x, std::vector<float>{1});
  execution.poison_unused(true);
  execution.run(Phase::forward);
  EXPECT_TRUE(std::isnan(execution.read(b).front()));
}

} // namespace
} // namespace kg::test
