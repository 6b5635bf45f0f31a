// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "formats/log/families.h"

namespace unhang::formats::log {
namespace {

class NcclFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override {
    static constexpr std::array<std::string_view, 2> kTriggers{"NCCL version ", "NCCL WARN "};
    return kTriggers;
  }
  bool take(const Line& line, Facts& facts) override { return take_nccl_warning(line.message, line, facts); }
};

}  // namespace

std::unique_ptr<Family> nccl_family() {
  return std::make_unique<NcclFamily>();
}

}  // namespace unhang::formats::log
