// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace unhang::cli {
namespace {

class CompletionCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "completion",
        .group = "This program",
        .summary = "print the completion script for a shell",
        .description =
            "With it the Tab key completes commands, flags and their values. The script stands alone: "
            "print it again after an update.",
        .positional = {.placeholder = "SHELL",
                       .help = "bash, zsh or fish",
                       .minimum = 1,
                       .maximum = 1,
                       .choices = {"bash", "zsh", "fish"}},
        .examples = {{"source <(unhang completion bash)", "For this bash."},
                     {"unhang completion zsh > ~/.zfunc/_unhang", "For each zsh with ~/.zfunc in its fpath."},
                     {"unhang completion fish > ~/.config/fish/completions/unhang.fish", "For each fish."}}};
  }

  int run(const std::vector<std::string>& arguments, Streams& streams) override {
    CommandList list = make_commands();
    const std::vector<Command> commands = describe_all(list);
    const std::string& shell = arguments.front();
    streams.out.write(shell == "bash"  ? render_bash_completion(commands)
                      : shell == "zsh" ? render_zsh_completion(commands)
                                       : render_fish_completion(commands));
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<CommandBase> make_completion_command() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace unhang::cli
