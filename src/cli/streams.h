// SPDX-License-Identifier: Apache-2.0
//
// Where a command writes: the result to `out`, progress and complaints to `err`. In the program these are the
// file descriptors 1 and 2, in a test they are strings.
#pragma once

#include <string>
#include <string_view>

namespace unhang::cli {

// One direction of output. Writes at once, without a buffer: hand over whole lines or more. Not copied; one
// thread.
class Output {
 public:
  explicit Output(int descriptor) : x_descriptor(descriptor) {}
  explicit Output(std::string& text) : x_text(&text) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Never fails here: after the first failure the rest is dropped, and the program says so once, at its end.
  // A reader that went away (`| head`) is no failure; SIGPIPE is ignored by the program.
  void write(std::string_view text);

  // False: nobody reads any more, further work for this output is in vain.
  bool is_open() const { return !x_closed; }
  // The errno of a failed write; 0: none, or only a reader that went away.
  int failure() const { return x_failure; }
  bool is_terminal() const;

 private:
  int x_descriptor = -1;
  std::string* x_text = nullptr;
  bool x_closed = false;
  int x_failure = 0;
};

struct Streams {
  Output& out;
  Output& err;
  bool color = false;  // may `out` carry colours? (--color, NO_COLOR, TERM, a terminal)
  int width = 80;      // columns of `out`
};

// What the surroundings say about the terminal; read once, in main.
struct Surroundings {
  bool no_color = false;  // NO_COLOR is set and not empty
  bool dumb = false;      // TERM is "dumb" or missing
  int columns = 0;        // COLUMNS, else what the terminal says; 0: not known
};
Surroundings read_surroundings(const Output& out);

// `when` is auto, always or never.
bool wants_color(std::string_view when, bool is_terminal, const Surroundings& surroundings);
int usable_width(const Surroundings& surroundings);

}  // namespace unhang::cli
