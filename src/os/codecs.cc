// SPDX-License-Identifier: Apache-2.0
//
// The four decompression libraries behind one face. The only file that includes their headers.
#include <algorithm>
#include <new>

#define ZLIB_CONST
#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/check.h"
#include "os/decompress_source.h"

namespace unhang::os {
namespace {

constexpr std::size_t kLargestStep = 1 << 30;      // the libraries count in 32 bits
constexpr std::uint64_t kXzMemory = 256ull << 20;  // xz -9 needs 65 MiB; a header may claim 4 GiB

class GzipCodec final : public Codec {
 public:
  GzipCodec() {
    if (inflateInit2(&x_stream, 15 + 16) != Z_OK)
      throw std::bad_alloc();  // 15 + 16: gzip header and checksum
  }
  ~GzipCodec() override { inflateEnd(&x_stream); }

  Step step(std::string_view in, char* out, std::size_t room) override {
    in = in.substr(0, kLargestStep);
    x_stream.next_in = reinterpret_cast<const Bytef*>(in.data());
    x_stream.avail_in = static_cast<uInt>(in.size());
    x_stream.next_out = reinterpret_cast<Bytef*>(out);
    x_stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&x_stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    Step step{in.size() - x_stream.avail_in, room - x_stream.avail_out, State::kMore, ""};
    if (code == Z_STREAM_END) step.state = State::kStreamEnd;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      step.state = State::kBroken;
      step.why = x_stream.msg != nullptr ? x_stream.msg : "not gzip";
    }
    return step;
  }
  void restart() override { inflateReset(&x_stream); }

 private:
  z_stream x_stream{};
};

class ZstdCodec final : public Codec {
 public:
  ZstdCodec() : x_context(ZSTD_createDCtx()) {
    if (x_context == nullptr) throw std::bad_alloc();
  }
  ~ZstdCodec() override { ZSTD_freeDCtx(x_context); }
  ZstdCodec(const ZstdCodec&) = delete;
  ZstdCodec& operator=(const ZstdCodec&) = delete;

  Step step(std::string_view in, char* out, std::size_t room) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, room, 0};
    const std::size_t code = ZSTD_decompressStream(x_context, &to, &from);
    Step step{from.pos, to.pos, State::kMore, ""};
    if (ZSTD_isError(code) != 0) {
      step.state = State::kBroken;
      step.why = ZSTD_getErrorName(code);
    } else if (code == 0) {
      step.state = State::kStreamEnd;
    }
    return step;
  }
  void restart() override { ZSTD_DCtx_reset(x_context, ZSTD_reset_session_only); }

 private:
  ZSTD_DCtx* x_context;
};

class Bzip2Codec final : public Codec {
 public:
  Bzip2Codec() { begin(); }
  ~Bzip2Codec() override { BZ2_bzDecompressEnd(&x_stream); }

  Step step(std::string_view in, char* out, std::size_t room) override {
    in = in.substr(0, kLargestStep);
    x_stream.next_in = const_cast<char*>(in.data());  // the interface is older than const; it only reads
    x_stream.avail_in = static_cast<unsigned>(in.size());
    x_stream.next_out = out;
    x_stream.avail_out = static_cast<unsigned>(room);
    const int code = BZ2_bzDecompress(&x_stream);
    if (code == BZ_MEM_ERROR) throw std::bad_alloc();
    Step step{in.size() - x_stream.avail_in, room - x_stream.avail_out, State::kMore, ""};
    if (code == BZ_STREAM_END) {
      step.state = State::kStreamEnd;
    } else if (code != BZ_OK) {
      step.state = State::kBroken;
      step.why = "block or checksum is wrong";
    }
    return step;
  }
  void restart() override {
    BZ2_bzDecompressEnd(&x_stream);
    begin();
  }

 private:
  void begin() {
    x_stream = {};
    if (BZ2_bzDecompressInit(&x_stream, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  bz_stream x_stream{};
};

class XzCodec final : public Codec {
 public:
  XzCodec() { begin(); }
  ~XzCodec() override { lzma_end(&x_stream); }

  Step step(std::string_view in, char* out, std::size_t room) override {
    x_stream.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    x_stream.avail_in = in.size();
    x_stream.next_out = reinterpret_cast<std::uint8_t*>(out);
    x_stream.avail_out = room;
    const lzma_ret code = lzma_code(&x_stream, LZMA_RUN);
    if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
    Step step{in.size() - x_stream.avail_in, room - x_stream.avail_out, State::kMore, ""};
    if (code == LZMA_STREAM_END) step.state = State::kStreamEnd;
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR) {
      step.state = State::kBroken;
      step.why = code == LZMA_MEMLIMIT_ERROR ? "unpacking it needs more than 256 MiB of memory"
                                             : "block or checksum is wrong";
    }
    return step;
  }
  void restart() override { begin(); }

 private:
  void begin() {
    if (lzma_stream_decoder(&x_stream, kXzMemory, 0) != LZMA_OK) throw std::bad_alloc();
  }
  lzma_stream x_stream = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Codec> make_codec(ContentKind compression) {
  CHECK(is_compression(compression));
  switch (compression) {
    case ContentKind::kZstd:
      return std::make_unique<ZstdCodec>();
    case ContentKind::kBzip2:
      return std::make_unique<Bzip2Codec>();
    case ContentKind::kXz:
      return std::make_unique<XzCodec>();
    default:
      return std::make_unique<GzipCodec>();
  }
}

}  // namespace unhang::os
