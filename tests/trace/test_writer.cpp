// SPDX-License-Identifier: GPL-2.0-or-later
// A file that cannot be whole does not get its name.
#include <gtest/gtest.h>

#include <filesystem>

#include "capture_file.h"
#include "epochs.h"

namespace s80::test {

namespace fs = std::filesystem;

class WriterTest : public ::testing::Test {
protected:
    WriterTest() { fs::remove(file.path()); }

    TemporaryFile file;
    std::string partial = file.path() + ".partial";
    std::vector<model::Epoch> epochs = RandomEpochs(3, {}).all();
};

TEST_F(WriterTest, TheNameComesWithTheEnd) {
    trace::Writer writer(file.path(), header_for(false));
    for (const auto& epoch : epochs) {
        writer.write(epoch);
    }
    EXPECT_FALSE(fs::exists(file.path()));
    EXPECT_TRUE(fs::exists(partial));
    writer.close();
    EXPECT_TRUE(fs::exists(file.path()));
    EXPECT_FALSE(fs::exists(partial));
}

TEST_F(WriterTest, WhatIsNotClosedIsRemoved) {
    {
        trace::Writer writer(file.path(), header_for(false));
        writer.write(epochs[0]);
    }
    EXPECT_FALSE(fs::exists(file.path()));
    EXPECT_FALSE(fs::exists(partial));
}

TEST_F(WriterTest, AnUnwritablePathIsNamed) {
    EXPECT_NE(error_of([] { trace::Writer("/dev/null/x.s80c", header_for(false)); }).find("/dev/null/x.s80c"),
              std::string::npos);
}

TEST_F(WriterTest, AFullDiskIsTold) {
    // Every write to /dev/full fails; it cannot be renamed, so the link to it stays what it is.
    fs::create_symlink("/dev/full", partial);
    const std::string sentence = error_of([&] { write_capture(file.path(), header_for(false), epochs); });
    EXPECT_NE(sentence.find("No space left on device"), std::string::npos) << sentence;
    EXPECT_FALSE(fs::exists(file.path()));
}

TEST_F(WriterTest, EpochsOfAnotherCaptureAreRefused) {
    trace::Writer writer(file.path(), header_for(false));
    model::Epoch placed(3);
    placed.placed = true;
    EXPECT_NE(error_of([&] { writer.write(placed); }), "");
    EXPECT_NE(error_of([&] { writer.write(model::Epoch(4)); }), "");
}

TEST_F(WriterTest, TheLastEpochNeedsAMark) {
    trace::Writer writer(file.path(), header_for(false));
    epochs[0].mark = model::Mark::none;
    writer.write(epochs[0]);
    EXPECT_NE(error_of([&] { writer.close(); }).find("mark"), std::string::npos);
}

}  // namespace s80::test
