// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration.h"
#include "base/printable.h"
#include "base/similar.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

template <class T>
struct Inner {
  using Type = T;
};
template <class T>
struct Inner<std::optional<T>> {
  using Type = T;
};

tl::unexpected<base::Error> refuse(const Flag& flag, const std::string& why) {
  return fail(ErrorCode::kUsage, fmt::format("flag {}: {}", flag.name, why));
}

std::string allowed_range(std::int64_t minimum, std::int64_t maximum) {
  const bool from = minimum != std::numeric_limits<std::int64_t>::min();
  const bool to = maximum != std::numeric_limits<std::int64_t>::max();
  if (from && to) return fmt::format("from {} to {}", minimum, maximum);
  if (from) return fmt::format("at least {}", minimum);
  return fmt::format("at most {}", maximum);
}

// Any integer type: parsed as the widest one, then held against the flag's range and the type's own.
template <class T>
Result<T> to_integer(const Flag& flag, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return refuse(flag, fmt::format("'{}' is not a whole number", base::printable(text)));
  }
  const std::int64_t minimum =
      std::max(flag.minimum, static_cast<std::int64_t>(std::numeric_limits<T>::min()));
  const std::int64_t maximum =
      std::min(flag.maximum, static_cast<std::int64_t>(std::numeric_limits<T>::max()));
  if (error == std::errc::result_out_of_range || number < minimum || number > maximum) {
    return refuse(flag, fmt::format("{} is out of range; it must be {}", base::printable(text),
                                    allowed_range(minimum, maximum)));
  }
  return static_cast<T>(number);
}

Result<double> to_double(const Flag& flag, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return refuse(flag, fmt::format("'{}' is not a number", base::printable(text)));
  }
  const bool low =
      flag.minimum != std::numeric_limits<std::int64_t>::min() && number < static_cast<double>(flag.minimum);
  const bool high =
      flag.maximum != std::numeric_limits<std::int64_t>::max() && number > static_cast<double>(flag.maximum);
  if (low || high) {
    return refuse(flag, fmt::format("{} is out of range; it must be {}", base::printable(text),
                                    allowed_range(flag.minimum, flag.maximum)));
  }
  return number;
}

template <class T>
Result<T> convert(const Flag& flag, std::string_view text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else if constexpr (std::is_same_v<T, double>) {
    return to_double(flag, text);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    const bool plain = flag.plain_seconds && !text.empty() &&
                       text.find_first_not_of("0123456789.") == std::string_view::npos;
    auto value = base::parse_duration(plain ? std::string(text) + "s" : std::string(text));
    if (!value) return refuse(flag, value.error().message);
    return *value;
  } else {
    return to_integer<T>(flag, text);
  }
}

Result<> check_choice(const Flag& flag, std::string_view text) {
  if (flag.choices.empty() ||
      std::find(flag.choices.begin(), flag.choices.end(), text) != flag.choices.end()) {
    return {};
  }
  const std::vector<std::string_view> words(flag.choices.begin(), flag.choices.end());
  const auto near = base::similar_words(text, words, 1);
  if (!near.empty()) {
    return refuse(flag, fmt::format("'{}' is not one of its values; did you mean '{}'?",
                                    base::printable(text), near.front()));
  }
  return refuse(flag,
                fmt::format("'{}' is not one of {}", base::printable(text), fmt::join(flag.choices, ", ")));
}

}  // namespace

bool takes_value(const Flag& flag) {
  return !flag.value.empty();
}

void set_switch(const Flag& flag, std::size_t times) {
  if (times == 0) return;
  if (auto* const* target = std::get_if<bool*>(&flag.target)) **target = true;
  if (auto* const* target = std::get_if<int*>(&flag.target))
    **target += static_cast<int>(std::min<std::size_t>(times, 100));
}

Result<> set_value(const Flag& flag, std::string_view text) {
  if (auto allowed = check_choice(flag, text); !allowed) return allowed;
  return std::visit(
      [&](auto* target) -> Result<> {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, bool>) {
          return refuse(flag, "it takes no value");
        } else if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
          target->emplace_back(text);
          return {};
        } else {
          auto value = convert<typename Inner<Target>::Type>(flag, text);
          if (!value) return fail(std::move(value.error()));
          *target = std::move(*value);
          return {};
        }
      },
      flag.target);
}

std::string default_text(const Flag& flag) {
  if (!takes_value(flag)) return "";
  return std::visit(
      [](const auto* target) -> std::string {
        using Target = std::remove_const_t<std::remove_pointer_t<decltype(target)>>;
        if constexpr (std::is_same_v<Target, std::string>) {
          return *target;
        } else if constexpr (std::is_same_v<Target, std::chrono::nanoseconds>) {
          return base::format_duration(*target);
        } else if constexpr (std::is_arithmetic_v<Target> && !std::is_same_v<Target, bool>) {
          return fmt::format("{}", *target);
        } else {
          return "";
        }
      },
      flag.target);
}

}  // namespace unhang::cli
