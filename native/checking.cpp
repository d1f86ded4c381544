// Checking: whether bytes are still what they were.
#include "hashing.hpp"
#include "kernels.hpp"

#include <array>

namespace lookalike {
namespace {

// One multiplication has to wait for the one before it, those of other lanes need not.
constexpr size_t lanes = 8;
constexpr size_t block = 8 * lanes;

} // namespace

uint64_t checksum(Bytes data) {
    std::array<uint64_t, lanes> state;
    for (size_t lane = 0; lane < lanes; ++lane) {
        state[lane] = (lane + 1) * C0;
    }
    auto add = [&](const uint8_t* bytes) {
        for (size_t lane = 0; lane < lanes; ++lane) {
            state[lane] = mix(state[lane] ^ little_endian(bytes + 8 * lane), C1);
        }
    };
    const size_t whole = data.size / block * block;
    for (size_t at = 0; at < whole; at += block) {
        add(data.data + at);
    }
    if (whole < data.size) {
        uint8_t last[block] = {};
        std::memcpy(last, data.data + whole, data.size - whole);
        add(last);
    }
    uint64_t result = data.size * C0;
    for (const uint64_t each : state) {
        result = mix(result ^ each, C1);
    }
    return result;
}

} // namespace lookalike
