// SPDX-License-Identifier: Apache-2.0
//
// The one event of a log, for tests whose lines must give one and no more.
#pragma once

#include <gtest/gtest.h>

#include "model/log.h"

namespace unhang::formats::log {

// The test fails where there is none, or several.
inline model::LogEvent only(const model::Log& log) {
  EXPECT_EQ(log.events.size(), 1u);
  return log.events.empty() ? model::LogEvent{} : log.events.front();
}

}  // namespace unhang::formats::log
