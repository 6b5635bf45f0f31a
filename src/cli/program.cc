// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/printable.h"
#include "base/similar.h"
#include "cli/exit_codes.h"
#include "cli/frame_flags.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace unhang::cli {
namespace {

struct Choice {
  CommandBase* command = nullptr;
  Command description;
};

struct Frame {
  std::vector<Choice> choices;
  Output& out;
  Output& err;
  const Surroundings& surroundings;
  FrameOptions options = {};

  int help_width() const { return std::min(usable_width(surroundings), kHelpWidth); }

  int complain(const std::string& prefix, const std::string& message, const std::string& try_this) {
    err.write(fmt::format("{}: {}\n{}\n", prefix, message, try_this));
    return kExitUsage;
  }

  const Choice* find(std::string_view name) const {
    for (const Choice& choice : choices) {
      if (choice.description.name == name) return &choice;
    }
    return nullptr;
  }

  std::string overview() {
    std::vector<Command> commands;
    for (const Choice& choice : choices) commands.push_back(choice.description);
    return render_overview(commands, program_flags(options), help_width());
  }
};

// The name may be two words ("config show"). Takes it away from the front of `words`.
const Choice* take_command(const Frame& frame, std::vector<std::string>& words) {
  for (const std::size_t length : {2u, 1u}) {
    if (words.size() < length) continue;
    const Choice* choice = frame.find(length == 2 ? words[0] + " " + words[1] : words[0]);
    if (choice == nullptr) continue;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(length));
    return choice;
  }
  return nullptr;
}

// The commands that begin with this word: "ras status", "ras watch" of "ras".
std::string family_of(const Frame& frame, const std::string& word) {
  std::string lines;
  for (const Choice& choice : frame.choices) {
    const Command& command = choice.description;
    if (!command.hidden && command.name.starts_with(word + " "))
      lines += fmt::format("  unhang {:<11}  {}\n", command.name, command.summary);
  }
  return lines;
}

int complain_about_command(Frame& frame, const std::string& word) {
  std::vector<std::string_view> names;
  for (const Choice& choice : frame.choices) {
    if (!choice.description.hidden) names.push_back(choice.description.name);
  }
  std::string message = fmt::format("there is no command '{}'", base::printable(word));
  const auto near = base::similar_words(word, names, 1);
  if (const std::string family = family_of(frame, word); !family.empty()) {
    return frame.complain("unhang", fmt::format("'{}' needs one of these second words:", word),
                          family.substr(0, family.size() - 1));
  } else if (!near.empty()) {
    message += fmt::format("; did you mean '{}'?", near.front());
  } else if (word.find('/') != std::string::npos && frame.find("diagnose") != nullptr) {
    message += "; to diagnose what lies there: unhang diagnose PATH";
  }
  return frame.complain("unhang", message, "Try 'unhang --help'.");
}

int run_command(Frame& frame, const Choice& choice, std::vector<std::string> words) {
  const Command& command = choice.description;
  const std::vector<Flag> flags = command_flags(command, frame.options);
  const std::string prefix = "unhang " + command.name;
  const std::string try_this = fmt::format("Try '{} --help'.", prefix);
  auto parsed = parse_arguments(flags, std::move(words));
  if (!parsed) return frame.complain(prefix, parsed.error().message, try_this);
  if (parsed->help || frame.options.help) {
    frame.out.write(render_help(command, flags, frame.help_width()));
    return kExitOk;
  }
  if (auto checked = check_positionals(command.positional, parsed->positionals); !checked) {
    return frame.complain(prefix, checked.error().message, try_this);
  }
  Streams streams{frame.out, frame.err,
                  wants_color(frame.options.color, frame.out.is_terminal(), frame.surroundings),
                  usable_width(frame.surroundings)};
  const int code = choice.command->run(parsed->positionals, streams);
  return styled_exit_code(parse_exit_style(frame.options.exit_style).value_or(ExitStyle::kDefault), code);
}

// "unhang help diagnose" is what people try first.
int run_help(Frame& frame, std::vector<std::string> words) {
  if (words.empty() || words.front() == "help") {
    frame.out.write(frame.overview());
    return kExitOk;
  }
  const std::string first = words.front();
  const Choice* choice = take_command(frame, words);
  if (choice == nullptr) return complain_about_command(frame, first);
  return run_command(frame, *choice, {"--help"});
}

// Flags that stand before the command: of the program, and --color, which is passed on.
int run_without_command(Frame& frame, const std::vector<std::string>& words) {
  auto parsed = parse_arguments(program_flags(frame.options), words);
  if (!parsed) return frame.complain("unhang", parsed.error().message, "Try 'unhang --help'.");
  if (parsed->help || frame.options.help) {
    frame.out.write(frame.overview());
    return kExitOk;
  }
  if (frame.options.version) {
    frame.out.write("unhang " UNHANG_VERSION "\n");
    return kExitOk;
  }
  frame.err.write(frame.overview());
  return kExitUsage;
}

int dispatch(Frame& frame, std::vector<std::string> words) {
  std::vector<std::string> before;
  while (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
    const bool takes_next = words.front() == "--color" && words.size() > 1;
    const auto end = words.begin() + (takes_next ? 2 : 1);
    before.insert(before.end(), words.begin(), end);
    words.erase(words.begin(), end);
  }
  const bool only_color = std::all_of(before.begin(), before.end(), [](const std::string& word) {
    return word.front() != '-' || word.substr(0, 7) == "--color";
  });
  if (words.empty() || !only_color) return run_without_command(frame, before);
  const std::string first = words.front();
  if (first == "help" && frame.find("help") == nullptr) {
    words.erase(words.begin());
    return run_help(frame, std::move(words));
  }
  const Choice* choice = take_command(frame, words);
  if (choice == nullptr && words.size() == 2 && (words[1] == "--help" || words[1] == "-h")) {
    if (const std::string family = family_of(frame, first); !family.empty()) {
      frame.out.write(family + "\n'unhang " + first + " … --help' says more about each.\n");
      return kExitOk;
    }
  }
  if (choice == nullptr) return complain_about_command(frame, first);
  words.insert(words.begin(), before.begin(), before.end());
  return run_command(frame, *choice, std::move(words));
}

}  // namespace

int run_program(const std::vector<std::string>& words, CommandList commands, Output& out, Output& err,
                const Surroundings& surroundings) {
  Frame frame{{}, out, err, surroundings};
  for (const auto& command : commands) frame.choices.push_back({command.get(), command->describe()});
  const int code = dispatch(frame, words);
  if (out.failure() != 0) {
    err.write(fmt::format("unhang: cannot write the output: {}\n", std::strerror(out.failure())));
    return kExitIo;
  }
  return code;
}

}  // namespace unhang::cli
