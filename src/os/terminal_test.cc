// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

// A terminal of its own and a clean environment.
class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"COLUMNS", "NO_COLOR", "TERM"}) {
      const char* value = std::getenv(name);
      x_saved.emplace_back(name, value != nullptr ? value : "", value != nullptr);
      ::unsetenv(name);
    }
    x_master = FileDescriptor(::posix_openpt(O_RDWR | O_NOCTTY));
    ASSERT_TRUE(x_master.valid());
    ASSERT_EQ(::grantpt(x_master.get()), 0);
    ASSERT_EQ(::unlockpt(x_master.get()), 0);
    x_terminal = FileDescriptor(::open(::ptsname(x_master.get()), O_RDWR | O_NOCTTY));
    ASSERT_TRUE(x_terminal.valid());
    set_width(133);
  }
  void TearDown() override {
    for (const auto& [name, value, was_set] : x_saved) {
      was_set ? ::setenv(name, value.c_str(), 1) : ::unsetenv(name);
    }
  }
  void set_width(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    ASSERT_EQ(::ioctl(x_master.get(), TIOCSWINSZ, &size), 0);
  }
  Terminal inspect(std::optional<bool> color_wanted = std::nullopt) const {
    return inspect_terminal(x_terminal.get(), color_wanted);
  }

  FileDescriptor x_master;
  FileDescriptor x_terminal;
  std::vector<std::tuple<const char*, std::string, bool>> x_saved;
};

TEST_F(TerminalTest, ATerminalHasItsWidthAndColours) {
  const Terminal terminal = inspect();
  EXPECT_EQ(terminal.width, 133);
  EXPECT_TRUE(terminal.color);
  EXPECT_TRUE(terminal.is_terminal);
}

TEST_F(TerminalTest, AFileHasEightyColumnsAndNoColours) {
  const FileDescriptor file(::open("/dev/null", O_WRONLY));
  const Terminal terminal = inspect_terminal(file.get(), std::nullopt);
  EXPECT_EQ(terminal.width, 80);
  EXPECT_FALSE(terminal.color);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_TRUE(inspect_terminal(file.get(), true).color);
}

TEST_F(TerminalTest, ColumnsGoBeforeTheTerminalWhenTheyAreANumber) {
  ::setenv("COLUMNS", "60", 1);
  EXPECT_EQ(inspect().width, 60);
  for (const char* nonsense : {"", "wide", "60x", "-5", "0", "99999999999999"}) {
    ::setenv("COLUMNS", nonsense, 1);
    EXPECT_EQ(inspect().width, 133) << nonsense;
  }
}

TEST_F(TerminalTest, WidthsThatNobodyCanReadAreBounded) {
  ::setenv("COLUMNS", "1", 1);
  EXPECT_EQ(inspect().width, 20);
  ::setenv("COLUMNS", "1000000", 1);
  EXPECT_EQ(inspect().width, 1000);
  ::unsetenv("COLUMNS");
  set_width(0);  // a terminal that does not know, as on serial lines
  EXPECT_EQ(inspect().width, 80);
}

TEST_F(TerminalTest, NoColorAndDumbTerminalsTurnColoursOffTheFlagDecides) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(inspect().color);
  EXPECT_TRUE(inspect(true).color);
  ::setenv("NO_COLOR", "", 1);  // set to nothing counts as not set
  EXPECT_TRUE(inspect().color);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(inspect().color);
  EXPECT_TRUE(inspect(true).color);
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(inspect().color);
  EXPECT_FALSE(inspect(false).color);
}

}  // namespace
}  // namespace unhang::os
