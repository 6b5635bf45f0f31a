// SPDX-License-Identifier: Apache-2.0
//
// Times of all sources on one base: UTC on the clock of the reference host, the offsets of the others taken
// off (Case::clocks). Which of two moments came first is said only where their clocks allow it: the same
// host, or further apart than the spreads. A time without a zone is read as UTC and proves no order against
// one that has a zone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/case.h"
#include "model/host_aliases.h"

namespace unhang::detect {

struct Moment {
  std::int64_t ns = 0;
  std::int64_t spread_ns = 0;
  std::string_view host;    // of the Case; empty: not known
  bool host_known = false;  // how its clock differs from the reference's is known
  bool has_zone = true;
  std::int64_t taken_off_ns = 0;
};

class HostTimes {
 public:
  // `joined` must outlive this.
  explicit HostTimes(const model::Case& joined);

  // Nullopt: not set, or none that a clock shows (years 1971 to 2199).
  std::optional<Moment> of(std::string_view host, std::int64_t utc_ns) const;
  // Nullopt as well: an uptime, or a date without its year.
  std::optional<Moment> of(std::string_view host, const model::LogTime& time) const;

  // `first` was before `second` by more than `margin_ns`, whatever the clocks were late or early.
  bool surely_before(const Moment& first, const Moment& second, std::int64_t margin_ns = 0) const;

 private:
  std::map<std::string_view, const model::HostClock*> x_clocks;
  model::HostAliases x_names;
  bool x_one_host = false;  // all that name a host name the same
};

}  // namespace unhang::detect
