// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <gtest/gtest.h>

#include "cli/completion.h"
#include "cli/exit_codes.h"
#include "cli/man_page.h"

namespace unhang::cli {
namespace {

// Says what it was given and returns the code it was asked for.
class FakeCommand final : public CommandBase {
 public:
  explicit FakeCommand(std::string name, bool gives_verdict = false, bool hidden = false)
      : x_name(std::move(name)), x_gives_verdict(gives_verdict), x_hidden(hidden) {}

  Command describe() override {
    return {
        .name = x_name,
        .group = "Fakes",
        .summary = "do as told by " + x_name,
        .positional = {.placeholder = "PATH…", .help = "what to read", .maximum = 3, .is_path = true},
        .flags =
            {{.name = "--code", .value = "N", .help = "the exit code", .target = &x_code, .group = "Output"}},
        .examples = {{"unhang " + x_name, "It's an example."}},
        .gives_verdict = x_gives_verdict,
        .hidden = x_hidden};
  }

  int run(const std::vector<std::string>& arguments, Streams& streams) override {
    std::string said = x_name;
    for (const std::string& argument : arguments) said += " <" + argument + ">";
    streams.out.write(said + (streams.color ? " in colour" : "") + " " + std::to_string(streams.width) +
                      "\n");
    return x_code;
  }

 private:
  std::string x_name;
  bool x_gives_verdict, x_hidden;
  int x_code = 0;
};

CommandList fakes() {
  CommandList list;
  list.push_back(std::make_unique<FakeCommand>("diagnose", true));
  list.push_back(std::make_unique<FakeCommand>("config show"));
  list.push_back(std::make_unique<FakeCommand>("config check"));
  list.push_back(std::make_unique<FakeCommand>("secret", false, true));
  return list;
}

struct Ran {
  int code;
  std::string out, err;
};

Ran run(const std::vector<std::string>& words, const Surroundings& surroundings = {}) {
  Ran ran{};
  Output out(ran.out), err(ran.err);
  ran.code = run_program(words, fakes(), out, err, surroundings);
  return ran;
}

TEST(Program, RunsTheCommand) {
  const Ran ran = run({"diagnose", "a", "--code", "2", "b"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "diagnose <a> <b> 80\n");
  EXPECT_EQ(ran.err, "");
}

TEST(Program, AFolderMayBeNamedLikeACommand) {
  EXPECT_EQ(run({"diagnose", "diagnose", "config"}).out, "diagnose <diagnose> <config> 80\n");
}

TEST(Program, CommandsOfTwoWords) {
  EXPECT_EQ(run({"config", "show", "x"}).out, "config show <x> 80\n");
  EXPECT_EQ(run({"config", "check"}).out, "config check 80\n");
  const Ran half = run({"config"});
  const std::string family =
      "  unhang config show  do as told by config show\n  unhang config check  do as told by config check\n";
  EXPECT_EQ(half.code, kExitUsage);
  EXPECT_EQ(half.err, "unhang: 'config' needs one of these second words:\n" + family);
  const Ran help = run({"config", "--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_EQ(help.out.substr(0, family.size()), family);
}

TEST(Program, HiddenCommandsRunAndAreNotShown) {
  EXPECT_EQ(run({"secret"}).out, "secret 80\n");
  EXPECT_EQ(run({"--help"}).out.find("secret"), std::string::npos);
  EXPECT_EQ(run({"secrte"}).err.find("secret"), std::string::npos);
}

TEST(Program, APathInsteadOfACommandGetsAHint) {
  EXPECT_NE(run({"/var/crash"}).err.find("to diagnose what lies there: unhang diagnose PATH"),
            std::string::npos);
}

TEST(Program, ExitStyleBelongsToVerdicts) {
  EXPECT_EQ(run({"diagnose", "--code", "2", "--exit-style", "npd"}).code, 1);
  EXPECT_EQ(run({"diagnose", "--code", "3", "--exit-style=zero"}).code, 0);
  EXPECT_EQ(run({"diagnose", "--code", "66", "--exit-style=nagios"}).code, 3);
  EXPECT_EQ(run({"config", "show", "--exit-style", "npd"}).code, kExitUsage);
  EXPECT_EQ(run({"diagnose", "--exit-style", "icinga"}).code, kExitUsage);
}

TEST(Program, ColourAndWidthReachTheCommand) {
  EXPECT_EQ(run({"diagnose", "--color", "always"}).out, "diagnose in colour 80\n");
  EXPECT_EQ(run({"--color=always", "diagnose"}).out, "diagnose in colour 80\n");
  EXPECT_EQ(run({"diagnose"}, {.columns = 132}).out, "diagnose 132\n");
  EXPECT_EQ(run({"diagnose"}, {.columns = 3}).out, "diagnose 40\n");
}

TEST(Program, WhenColourIsWanted) {
  EXPECT_TRUE(wants_color("auto", true, {}));
  EXPECT_FALSE(wants_color("auto", false, {}));
  EXPECT_FALSE(wants_color("auto", true, {.no_color = true}));
  EXPECT_FALSE(wants_color("auto", true, {.dumb = true}));
  EXPECT_TRUE(wants_color("always", false, {.no_color = true}));
  EXPECT_FALSE(wants_color("never", true, {}));
}

TEST(Program, HelpOfACommandIsWhole) {
  EXPECT_EQ(run({"diagnose", "--help"}).out,
            "Usage: unhang diagnose [PATH…] [FLAGS]\n"
            "\n"
            "Do as told by diagnose.\n"
            "\n"
            "Arguments\n"
            "  PATH…  what to read\n"
            "\n"
            "Output\n"
            "      --code N            the exit code (default: 0)\n"
            "\n"
            "Flags\n"
            "      --exit-style STYLE  exit codes as another monitor expects them: default,\n"
            "                          nagios, npd, nhc, zero (default: default)\n"
            "      --color WHEN        colours in the output: auto, always, never (default:\n"
            "                          auto)\n"
            "  -h, --help              print this help\n"
            "\n"
            "Examples\n"
            "  unhang diagnose\n"
            "      It's an example.\n"
            "\n"
            "Exit status\n"
            "  0  it advances, is idle or starting; nothing wrong was found\n"
            "  1  it advances and is slower than it should be\n"
            "  2  it stopped, died or failed, also where the cause is not known\n"
            "  3  unknown: nothing wrong was proven, and too little was seen\n");
  EXPECT_EQ(run({"help", "config", "show"}).out, run({"config", "show", "-h"}).out);
}

TEST(Program, WhatCannotBeWrittenIsAnIoError) {
  std::string text;
  Output nowhere(-1), err(text);
  EXPECT_EQ(run_program({"diagnose"}, fakes(), nowhere, err, {}), kExitIo);
  EXPECT_EQ(text, "unhang: cannot write the output: Bad file descriptor\n");
}

std::vector<Command> described(CommandList& list) {
  std::vector<Command> commands;
  for (const auto& command : list) commands.push_back(command->describe());
  return commands;
}

TEST(Program, CompletionKnowsCommandsOfTwoWordsAndHidesTheHidden) {
  CommandList list = fakes();
  const std::vector<Command> commands = described(list);
  const std::string bash = render_bash_completion(commands), zsh = render_zsh_completion(commands),
                    fish = render_fish_completion(commands);
  EXPECT_NE(bash.find("words=\"diagnose config\""), std::string::npos);
  EXPECT_NE(bash.find("words=\"show check\""), std::string::npos);
  EXPECT_NE(zsh.find("compadd -- show check"), std::string::npos);
  EXPECT_NE(fish.find("__fish_seen_subcommand_from config; and __fish_seen_subcommand_from show"),
            std::string::npos);
  for (const std::string& script : {bash, zsh, fish}) EXPECT_EQ(script.find("secret"), std::string::npos);
}

TEST(Program, ManPagesAreQuoted) {
  CommandList list = fakes();
  const std::vector<Command> commands = described(list);
  EXPECT_EQ(man_page_name(commands[1]), "unhang-config-show");
  const std::string page = render_command_page(commands[1]);
  EXPECT_NE(page.find(".TH UNHANG\\-CONFIG\\-SHOW 1 "), std::string::npos);
  EXPECT_NE(page.find("[PATH\\[u2026]]"), std::string::npos);
  EXPECT_NE(page.find("It\\(aqs an example."), std::string::npos);
  EXPECT_EQ(render_program_page(commands).find("secret"), std::string::npos);
}

}  // namespace
}  // namespace unhang::cli
