// SPDX-License-Identifier: Apache-2.0
//
// Stands for ever in a function that is called like NCCL's, for tests in which a real gdb looks.
#include <unistd.h>

extern "C" [[gnu::noinline]] int ncclCommInitRank(int ranks) {
  while (ranks > 0) ::pause();
  return ranks;
}

int main(int count, char**) {
  return ncclCommInitRank(count) + 1;  // no tail call: this frame stays
}
