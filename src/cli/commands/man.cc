// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/similar.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/man_page.h"

namespace unhang::cli {
namespace {

// Writes a new file, or over an old one. The errno on failure, else 0.
int write_file(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  Output file(fd);
  file.write(text);
  const int closed = ::close(fd) == 0 ? 0 : errno;
  return file.failure() != 0 ? file.failure() : closed;
}

class ManCommand final : public CommandBase {
 public:
  Command describe() override {
    return {.name = "man",
            .group = "This program",
            .summary = "print a man page",
            .description =
                "Without a name the page of the program, unhang(1); with the name of a command its own. The "
                "pages are made from the same descriptions as --help.",
            .positional = {.placeholder = "COMMAND",
                           .help = "a command, as in 'unhang man explain'",
                           .maximum = 2},
            .flags = {{.name = "--directory",
                       .value = "DIR",
                       .help = "write all pages into this folder, which must exist",
                       .target = &x_directory,
                       .is_path = true}},
            .examples = {{"unhang man | man -l -", "Read the manual where nothing is installed."},
                         {"unhang man --directory /usr/local/share/man/man1", "Install the pages."}},
            .hidden = true};
  }

  int run(const std::vector<std::string>& arguments, Streams& streams) override {
    CommandList list = make_commands();
    const std::vector<Command> commands = describe_all(list);
    if (!x_directory.empty()) return write_all(commands, streams);
    if (arguments.empty()) {
      streams.out.write(render_program_page(commands));
      return kExitOk;
    }
    const std::string name = arguments.size() == 2 ? arguments[0] + " " + arguments[1] : arguments[0];
    std::vector<std::string_view> names;
    for (const Command& command : commands) {
      if (command.name == name) {
        streams.out.write(render_command_page(command));
        return kExitOk;
      }
      names.push_back(command.name);
    }
    const auto near = base::similar_words(name, names, 1);
    const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front());
    streams.err.write(fmt::format("unhang man: there is no command '{}'{}\n", base::printable(name), hint));
    return kExitUsage;
  }

 private:
  int write_all(const std::vector<Command>& commands, Streams& streams) const {
    int failure = write_page("unhang", render_program_page(commands), streams);
    for (const Command& command : commands) {
      if (failure == kExitOk && !command.hidden) {
        failure = write_page(man_page_name(command), render_command_page(command), streams);
      }
    }
    return failure;
  }

  int write_page(const std::string& name, std::string_view text, Streams& streams) const {
    const std::string path = x_directory + "/" + name + ".1";
    const int error = write_file(path, text);
    if (error == 0) return kExitOk;
    streams.err.write(
        fmt::format("unhang man: cannot write {}: {}\n", base::printable(path), std::strerror(error)));
    return kExitIo;
  }

  std::string x_directory;
};

}  // namespace

std::unique_ptr<CommandBase> make_man_command() {
  return std::make_unique<ManCommand>();
}

}  // namespace unhang::cli
