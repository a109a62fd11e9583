#include "base/events/events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace paceline {
namespace {

class Events : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline-events-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "events.jsonl";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void append(const std::string& bytes) const { std::ofstream(file_, std::ios::app) << bytes; }
  std::vector<std::string> kinds() const {
    std::vector<std::string> all;
    read_events(file_, [&](const nlohmann::ordered_json& event) {
      all.push_back(event.at("event"));
      return true;
    });
    return all;
  }
  using Kinds = std::vector<std::string>;
  fs::path folder_, file_;
};

TEST_F(Events, ANewRecordIsNotWrittenOverAnother) {
  { EventLog log(file_, {{"command", "train"}}); }
  EXPECT_THROW(EventLog(file_, {{"command", "train"}}), WorkError);
}

TEST_F(Events, AResumedRunGoesOnBehindTheEventsThatAreThere) {
  {
    EventLog log(file_, {{"command", "train"}});
    log.add("step", {{"step", 1}});
  }
  const std::string before = read_file(file_);
  {
    EventLog log(file_, {{"command", "train"}, {"resumed_from", 1}}, EventLog::Open::append);
    log.add("step", {{"step", 2}});
  }
  EXPECT_TRUE(read_file(file_).starts_with(before));
  EXPECT_EQ(kinds(), (Kinds{"run", "step", "run", "step"}));
}

TEST_F(Events, ALineThatWasCutShortIsRemovedBeforeTheNext) {
  { EventLog log(file_, {{"command", "train"}}); }
  const std::string whole = read_file(file_);
  append("{\"event\":\"step\",\"t\":0.5,\"st");
  { EventLog log(file_, {{"resumed_from", 0}}, EventLog::Open::append); }
  EXPECT_TRUE(read_file(file_).starts_with(whole + "{\"event\":\"run\""));
  EXPECT_EQ(kinds(), (Kinds{"run", "run"}));
}

TEST_F(Events, ALongLineThatWasCutShortIsRemovedWhole) {
  { EventLog log(file_, {{"command", "train"}}); }
  append("{\"event\":\"evaluation\",\"names\":\"" + std::string(300000, 'x'));
  { EventLog log(file_, {{"resumed_from", 0}}, EventLog::Open::append); }
  EXPECT_EQ(kinds(), (Kinds{"run", "run"}));
}

TEST_F(Events, ARecordThatIsMissingOrEmptyIsBegun) {
  { EventLog log(file_, {{"resumed_from", 0}}, EventLog::Open::append); }
  EXPECT_EQ(kinds(), Kinds{"run"});
  fs::resize_file(file_, 0);
  append("{\"even");
  { EventLog log(file_, {{"resumed_from", 0}}, EventLog::Open::append); }
  EXPECT_EQ(kinds(), Kinds{"run"});
}

}  // namespace
}  // namespace paceline
