// Training by several workers, as processes of the real program.
#pragma once
#include "../cli/training.h"

namespace paceline {

// A model joins the tests by its name and the options with which it is trained: small, everything random on.
struct TrainedModel {
  const char* name;
  Words options;
  const std::string& (*data)() = tiny_data;
  const char* model = name;  // what --model says
  friend void PrintTo(const TrainedModel& model, std::ostream* out) { *out << model.name; }
};
const std::vector<TrainedModel>& trained_models();

class Distributed : public Training {
 protected:
  // Skips where there is no Open MPI.
  void SetUp() override;

  // Arguments of a run in the scratch folder. Its name is a whole path, by which its processes are found.
  static Words train(const TrainedModel& model, const std::string& out, const Words& more = {});
  static Words resume(const std::string& out, const Words& more = {});
  static std::string whole(const std::string& out) { return (fs::current_path() / out).string(); }
  static Words workers(unsigned count, const Words& more = {});

  // mpirun as a user would call it, each worker with arguments of its own.
  static Words by_hand(const std::vector<Words>& each);

  // Processes of the run: all of them, or the worker of a rank.
  static std::vector<pid_t> processes(const std::string& out);
  static pid_t worker(const std::string& out, unsigned rank);
  // Waits up to ten seconds for the last process of the run to go.
  static bool all_are_gone(const std::string& out);
};

Words joined(Words first, const Words& more);

// The lines of the program itself, without what mpirun says around them.
Words sentences(const std::string& err);

}  // namespace paceline
