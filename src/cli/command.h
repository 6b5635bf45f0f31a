// SPDX-License-Identifier: Apache-2.0
//
// A command of the command line: a description and a function. The one description feeds parsing, --help, the
// man pages, shell completion and the docs.
//
// A new command is one file commands/NAME.cc with a class and its factory, and one line in commands.cc:
//
//   class NameCommand final : public CommandBase {
//    public:
//     Command describe() override;                          // binds the flags to the members below
//     int run(const std::vector<std::string>& arguments, Streams& streams) override;
//    private:
//     bool x_json = false;                                  // its initial value is the default that --help
//     shows
//   };
//   std::unique_ptr<CommandBase> make_name_command() { return std::make_unique<NameCommand>(); }
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/streams.h"

namespace unhang::cli {

// Where a flag puts what it was given. bool: a switch. int without a placeholder: counts (-v -vv). A vector:
// may be given many times. An optional stays empty when the flag was not given. Durations are written with a
// unit ("25s"); `plain_seconds` takes a bare number as well.
using FlagTarget = std::variant<bool*, int*, unsigned*, std::int64_t*, double*, std::string*,
                                std::vector<std::string>*, std::chrono::nanoseconds*, std::optional<int>*,
                                std::optional<std::int64_t>*, std::optional<double>*,
                                std::optional<std::string>*, std::optional<std::chrono::nanoseconds>*>;

struct Flag {
  std::string name = {};        // "--threads"
  std::string short_name = {};  // "-j", or empty
  std::string value = {};       // the placeholder of its value, "N"; empty for a switch
  std::string help = {};        // a line or two, without a full stop at the end
  FlagTarget target = static_cast<bool*>(nullptr);
  std::vector<std::string> choices = {};  // the only values that are allowed
  bool is_path = false;                   // its value is a file or folder (completion)
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();  // numbers only
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  std::string group = {};      // heading in --help; empty: "Flags"
  bool hidden = false;         // works, but is not shown
  bool plain_seconds = false;  // durations only: as timeout(1) has it, a number without a unit is seconds
};

struct Positional {
  std::string placeholder = {};  // "PATH…"; empty: the command takes no arguments
  std::string help = {};
  std::size_t minimum = 0;
  std::size_t maximum = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> choices = {};
  bool other_allowed = false;  // the choices are suggestions (completion), the command itself judges
  bool is_path = false;
  bool behind_dashes = false;  // another program with flags of its own: it stands behind --
};

struct Example {
  std::string command;  // "unhang diagnose /var/crash/job7"
  std::string text;     // what it is good for
};

struct ExitNote {
  int code;
  std::string means;
};

struct Command {
  std::string name = {};         // "diagnose", or two words: "config show"
  std::string group = {};        // heading in the list of commands
  std::string summary = {};      // one line of at most 60 columns, no full stop
  std::string description = {};  // paragraphs, separated by an empty line
  Positional positional = {};
  std::vector<Flag> flags = {};
  std::vector<Example> examples = {};
  std::vector<ExitNote> exit_notes = {};  // beside those that every command has
  bool gives_verdict = false;  // run() returns 0 to 3: adds --exit-style and the table of exit codes
  bool hidden = false;         // works, but is not in the short list
};

class CommandBase {
 public:
  virtual ~CommandBase() = default;
  // The targets of the flags are members of this object and live as long as it does.
  virtual Command describe() = 0;
  // Called once, after the flags were set. Returns the exit code.
  virtual int run(const std::vector<std::string>& arguments, Streams& streams) = 0;
};

using CommandList = std::vector<std::unique_ptr<CommandBase>>;

}  // namespace unhang::cli
