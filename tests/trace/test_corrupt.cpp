// SPDX-License-Identifier: GPL-2.0-or-later
// A file that is not what was written is refused, and the sentence says where.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

#include "capture_file.h"
#include "epochs.h"
#include "trace/decoder.h"
#include "trace/encoder.h"

namespace s80::test {

namespace {

class Corrupt : public ::testing::Test {
protected:
    Corrupt() {
        write_capture(file.path(), header_for(false), RandomEpochs(5, {.epochs = 3}).all());
        whole = file.read();
    }
    /// What reading these bytes throws.
    std::string refusal(const std::string& bytes) {
        file.write(bytes);
        return error_of([&] { read_capture(file.path()); });
    }
    static bool names_place(const std::string& sentence) {
        return sentence.find("(byte ") != std::string::npos && sentence.find(", epoch ") != std::string::npos;
    }

    TemporaryFile file;
    std::string whole;
};

}  // namespace

TEST_F(Corrupt, TheWholeFileIsRead) {
    EXPECT_EQ(refusal(whole), "");
}

TEST_F(Corrupt, EveryTruncationIsRefused) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string sentence = refusal(whole.substr(0, size));
        ASSERT_NE(sentence.find(file.path()), std::string::npos) << "cut at " << size << ": " << sentence;
        ASSERT_TRUE(size < 16 || names_place(sentence)) << "cut at " << size << ": " << sentence;
    }
}

TEST_F(Corrupt, EveryChangedByteIsRefused) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (at >= 12 && at < 16) {
            continue;  // reserved
        }
        for (const unsigned flip : {0x01U, 0x80U}) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
            const std::string sentence = refusal(bytes);
            ASSERT_NE(sentence.find(file.path()), std::string::npos) << "byte " << at << ": " << sentence;
            ASSERT_TRUE(at < 16 || names_place(sentence)) << "byte " << at << ": " << sentence;
        }
    }
}

TEST_F(Corrupt, ATailIsRefused) {
    EXPECT_NE(refusal(whole + "x").find("truncated"), std::string::npos);
    EXPECT_NE(refusal(whole + whole).find(file.path()), std::string::npos);
}

TEST_F(Corrupt, AMissingBlockIsRefused) {
    const Shape shape{.processors = 18, .lines = 1'000'000, .epochs = 300, .events = 400};
    write_capture(file.path(), header_for(false, 18, shape.lines), RandomEpochs(11, shape).all());
    const std::string bytes = file.read();
    // Header, then blocks of epochs: the second of these is left out.
    std::vector<std::size_t> begins{sizeof(trace::Preamble)};
    while (begins.size() < 4) {
        trace::BlockHeader block;
        std::memcpy(&block, &bytes[begins.back()], sizeof block);
        begins.push_back(begins.back() + sizeof block + block.stored);
    }
    const std::string sentence = refusal(bytes.substr(0, begins[2]) + bytes.substr(begins[3]));
    EXPECT_NE(sentence.find("expected next block (byte " + std::to_string(begins[2]) + ", epoch "),
              std::string::npos)
        << sentence;
}

TEST_F(Corrupt, OtherVersionsAreNamed) {
    std::string bytes = whole;
    bytes[8] = 9;
    EXPECT_NE(refusal(bytes).find("version 9"), std::string::npos);
}

TEST_F(Corrupt, AbsentFilesFoldersAndOtherFiles) {
    EXPECT_NE(error_of([] { trace::Reader("/dev/null/x.s80c"); }).find("/dev/null/x.s80c"),
              std::string::npos);
    EXPECT_NE(error_of([] { trace::Reader("/"); }).find("not a file"), std::string::npos);
    EXPECT_NE(refusal("name = \"no capture at all\"").find("not a capture"), std::string::npos);
}

namespace {

/// What a decoder for three processors says of an epoch that has one event, on the first processor.
std::string refusal_of(const model::Event& event) {
    model::Epoch epoch(3);
    epoch.streams[0].events = {event};
    epoch.streams[0].size = 1;
    epoch.streams[0].ran = true;
    trace::Encoder encoder(3, false);
    encoder.add(epoch);
    trace::Bytes contents = encoder.finish();
    const std::size_t size = contents.size();
    contents.resize(size + trace::Decoder::kPadding);
    trace::Decoder decoder(3, false, 64);
    decoder.begin({contents.data(), size});
    try {
        decoder.take(epoch);
        decoder.end();
    } catch (const trace::Malformed& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST(MalformedEvent, AnEdgeToAProcessorThatDoesNotExistIsRefused) {
    const auto edge_to = [](unsigned processor) {
        return refusal_of(model::Event{model::Edge{processor, 1}.word(), 5, 0, model::Op::after, 0, {}});
    };
    EXPECT_EQ(edge_to(2), "");
    EXPECT_EQ(edge_to(3), "has an ordering edge to a processor that the machine does not have");
    EXPECT_EQ(edge_to(255), "has an ordering edge to a processor that the machine does not have");
}

TEST(MalformedEvent, OnlyAccessesAndPassesAreAwaited) {
    EXPECT_EQ(refusal_of(model::Event{5, 5, 1, model::Op::store, 0, {}}), "");
    EXPECT_EQ(refusal_of(model::Event{0, 5, 1, model::Op::pass, 0, {}}), "");
    EXPECT_EQ(refusal_of(model::Event{model::Edge{1, 0}.word(), 5, 1, model::Op::after, 0, {}}),
              "has an event of an unknown kind");
}

TEST(MalformedEvent, AccessesOfDevicesAreRefused) {
    EXPECT_EQ(refusal_of(model::Event{5, 5, 0, model::Op::device_read, 0, {}}),
              "has an event of an unknown kind");
    EXPECT_EQ(refusal_of(model::Event{5, 5, 0, model::Op::device_write, 0, {}}),
              "has an event of an unknown kind");
}

TEST(MalformedEvent, ALongDeltaBeyondTheLongestIsRefused) {
    model::Epoch epoch(3);
    epoch.streams[0].events = {model::Event{5, model::kLongestDelta, 0, model::Op::load, 0, {}}};
    epoch.streams[0].size = 1;
    epoch.streams[0].ran = true;
    trace::Encoder encoder(3, false);
    encoder.add(epoch);
    trace::Bytes contents = encoder.finish();
    const auto delta = std::search_n(contents.begin(), contents.end(), 1, std::uint8_t{0x7f});
    ASSERT_NE(delta, contents.end());
    *delta = 0x80;
    const std::size_t size = contents.size();
    contents.resize(size + trace::Decoder::kPadding);
    trace::Decoder decoder(3, false, 64);
    decoder.begin({contents.data(), size});
    EXPECT_THROW(decoder.take(epoch), trace::Malformed);
}

/// Whatever a block holds, behind a sum that is right: it is refused, or its epochs can be played safely.
TEST(MalformedBlock, IsRefusedOrSafe) {
    EXPECT_TRUE(rc::check([](std::uint32_t seed, bool placed) {
        Shape shape;
        shape.placed = placed;
        trace::Encoder encoder(shape.processors, placed);
        for (const auto& epoch : RandomEpochs(seed, shape).all()) {
            encoder.add(epoch);
        }
        trace::Bytes contents = encoder.finish();
        const auto changes = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint8_t>>>(
            rc::gen::pair(rc::gen::arbitrary<std::uint32_t>(), rc::gen::arbitrary<std::uint8_t>()));
        for (const auto& [at, value] : changes) {
            contents[at % contents.size()] = value;
        }
        const std::size_t size = contents.size();
        contents.resize(size + trace::Decoder::kPadding);
        trace::Decoder decoder(shape.processors, placed, shape.lines);
        model::Epoch epoch(shape.processors);
        try {
            decoder.begin({contents.data(), size});
            for (unsigned w = 0; w < shape.epochs; ++w) {
                decoder.take(epoch);
                for (const model::Stream& stream : epoch.streams) {
                    RC_ASSERT(stream.size <= stream.events.size());
                    for (std::size_t i = 0; i < stream.size; ++i) {
                        const model::Event& e = stream.events[i];
                        RC_ASSERT(e.op <= model::Op::after);
                        RC_ASSERT(e.context.value < model::kContexts);
                        RC_ASSERT(e.op > model::Op::walk || e.line < shape.lines);
                        const bool interrupt = e.op == model::Op::signal || e.op == model::Op::wait;
                        RC_ASSERT(!interrupt || e.line < epoch.signals);
                        RC_ASSERT(e.op != model::Op::after ||
                                  model::Edge::from_word(e.line).processor < shape.processors);
                        RC_ASSERT(e.awaited == 0 || e.op <= model::Op::pass);
                    }
                }
            }
            decoder.end();
        } catch (const trace::Malformed&) {
        }
    }));
}

}  // namespace s80::test
