// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/vendor_tests.h"

#include "libraries/not_supported.h"
#include "runtime/device.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kg::card {
namespace {

// Fails unless the call throws an Error that contains `words`.
template <class Run>
void expect_refusal(Run run, std::string_view words, const std::string& what) {
  try {
    run();
    ADD_FAILURE() << what << ": no error";
  } catch (const vendor::NotSupported& error) {
    // In a chain, the first library is tried before the second one's arguments are checked.
    const bool not_here = std::string_view(error.what()).find("not available here") !=
                          std::string_view::npos; // on this CPU
    EXPECT_TRUE(not_here || device_properties().emulated) << what << ": " << error.what();
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find(words), std::string_view::npos)
        << what << ": no \"" << words << "\" in: " << error.what();
  }
}

// Dense memory for the tensors of a problem.
class Memory {
 public:
  explicit Memory(const Problem& problem) {
    for (const auto* group : {&problem.inputs, &problem.outputs, &problem.kept})
      for (const Tensor& tensor : *group)
        tensors_.try_emplace(tensor.name, tensor, Layout{}, std::int64_t{16});
  }
  Call bound(const Problem& problem) const {
    Call call(problem);
    for (const auto& [name, tensor] : tensors_) call.bind(name, tensor.data());
    return call;
  }

 private:
  std::map<std::string, DeviceTensor> tensors_;
};

void refuses_wrong_arguments(Judge& judge, const Problem& problem, std::string_view vendor) {
  const Vendors& vendors = judge.card().vendors;
  const Memory memory(problem);
  const auto run = [&](const Call& call) { vendors.run(vendor, call, judge.stream()); };
  std::set<std::int64_t> extents;
  for (const auto* group : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *group) {
      if (!tensor.derived) extents.insert(tensor.extents.begin(), tensor.extents.end());
      if (tensor.size() == 0 || tensor.optional) continue;
      Call call = memory.bound(problem);
      call.bind(tensor.name, nullptr);
      expect_refusal([&] { run(call); }, "is null",
                     fmt::format("{}, {}: {} is null", vendor, problem.shape, tensor.name));
    }
  for (const std::int64_t extent : extents) {
    Problem negative = problem;
    for (auto* group : {&negative.inputs, &negative.outputs})
      for (Tensor& tensor : *group)
        std::replace(tensor.extents.begin(), tensor.extents.end(), extent, std::int64_t{-1});
    expect_refusal([&] { run(memory.bound(negative)); }, "is -", // or a value derived from it
                   fmt::format("{}, {}: the extent {} is -1", vendor, problem.shape, extent));
  }
}

} // namespace

void vendors_keep_their_promises(Judge& judge) {
  const Card& card = judge.card();
  const Vendors& vendors = card.vendors;
  for (const std::string& shape : card.usual(judge.dtype())) {
    const Problem ours = problem_of(card, judge.dtype(), {"normal", shape});
    for (const std::string_view vendor : vendors.names(ours)) {
      const Problem problem = vendors.problem(ours, vendor);
      refuses_wrong_arguments(judge, problem, vendor);
      const Memory memory(problem);
      expect_refusal([&] { vendors.run("nobody", memory.bound(problem), judge.stream()); },
                     fmt::format("use one of: {}", vendors.names(ours).front()), shape);
    }
  }
  for (const std::string& shape : card.empty) {
    const Problem ours = problem_of(card, judge.dtype(), {"nothing", shape});
    if (ours.output_size() > 0) continue;
    for (const std::string_view vendor : vendors.names(ours)) {
      const Problem nothing = vendors.problem(ours, vendor);
      EXPECT_NO_THROW(vendors.run(vendor, Call(nothing), judge.stream()))
          << vendor << ": null pointers of a problem without elements, " << shape;
    }
  }
}

} // namespace kg::card
