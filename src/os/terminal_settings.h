// SPDX-License-Identifier: Apache-2.0
//
// How the terminal was set when a program of somebody else was started: programs that die in raw mode leave
// it so, and nobody can read what follows.
#pragma once

#include <memory>

namespace unhang::os {

// Remembers the settings of the terminal at our standard error, if there is one.
class TerminalSettings {
 public:
  TerminalSettings();
  ~TerminalSettings();
  TerminalSettings(const TerminalSettings&) = delete;
  TerminalSettings& operator=(const TerminalSettings&) = delete;

  // Sets it as it was, and leaves a program's second screen. Nothing where nothing was changed, or there is
  // no terminal.
  void restore() const;

 private:
  struct Saved;
  std::unique_ptr<Saved> x_saved;
};

}  // namespace unhang::os
