// SPDX-License-Identifier: Apache-2.0
//
// The one event of a log, for tests whose lines must give one and no more.
#pragma once

#include <stdexcept>
#include <string>

#include "model/log.h"

namespace unhang::formats::log {

// An exception, which fails the test, where there is none or several.
inline model::LogEvent only(const model::Log& log) {
  if (log.events.size() != 1)
    throw std::logic_error(std::to_string(log.events.size()) + " events where one was expected");
  return log.events.front();
}

}  // namespace unhang::formats::log
