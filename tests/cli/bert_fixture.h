// Small trainings of model bert on a data set of twelve pieces.
#pragma once
#include "training.h"

namespace paceline {

class BertTraining : public Training {
 protected:
  void SetUp() override {
    Training::SetUp();
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n##ly\nit\nis\nthis\n.\n");
    std::string rows = "text,second,label\n";
    for (int i = 0; i < 240; ++i) {
      std::string filler;
      for (int word = 0; word < i % 13; ++word) filler += word % 3 == 0 ? "it " : "this is ";
      rows += filler + (i % 2 ? "goodly good. " : "bad ") + std::to_string(i) +
              (i % 2 ? ",is it,yes\n" : ",it is,no\n");
    }
    write("rows.csv", rows);
  }
  static void prepare(const std::string& out, const Words& more = {}) { run_well(prepare_pieces(out, more)); }
  // Learns within 40 steps.
  static Words bert(const std::string& data, const std::string& out, const Words& more = {}) {
    Words all = {"train", "--data",          data,   "--model",       "bert", "--out",
                 out,     "--heads",         "2",    "--steps",       "40",   "--intermediate",
                 "24",    "--bert-hidden",   "16",   "--bert-layers", "2",    "--positions",
                 "32",    "--learning-rate", "0.005"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Words from(const std::string& init, const std::string& out, const Words& more = {}) {
    Words all = {"train", "--data", "data", "--model", "bert", "--init", init, "--steps", "6", "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Json ask(const Words& arguments) {
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 0) << output.err;
    return Json::parse(output.out);
  }
  static double accuracy(const std::string& model, const std::string& data) {
    return ask({"evaluate", model, "--data", data, "--json"}).at("accuracy");
  }
};

}  // namespace paceline
