#include "program.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>

#include "base/error.h"

namespace paceline {
namespace {

std::string contents(int file) {
  std::string text(static_cast<size_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END))), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t n = pread(file, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  return text;
}

[[noreturn]] void become(const Words& argv, const int* files) {
  for (int i = 0; i < 3; ++i) dup2(files[i], i);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

fs::path new_folder() {
  std::string name = (fs::temp_directory_path() / "paceline-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) work_error("{}: no scratch folder", name);
  return name;
}

}  // namespace

Process::Process(const Words& argv, std::string_view input) {
#ifdef __SANITIZE_ADDRESS__
  // GCC 12's leak detector sometimes dies itself when a process of many threads ends. Leaks are looked for
  // in this process and in the tests of the rooms; the program is started without.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
#endif
  for (int& file : files_) file = memfd_create("paceline-test", MFD_CLOEXEC);
  if (files_[2] < 0 || ::write(files_[0], input.data(), input.size()) != static_cast<ssize_t>(input.size()))
    work_error("no file in memory for the test");
  lseek(files_[0], 0, SEEK_SET);
  pid_ = fork();
  if (pid_ == 0) become(argv, files_);
}

Process::~Process() {
  if (!reaped_) {
    signal(SIGKILL);
    signal(SIGCONT);
    wait();
  }
  for (int file : files_) ::close(file);
}

void Process::signal(int number) const { kill(pid_, number); }

bool Process::is_running() {
  siginfo_t info = {};
  return !reaped_ && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

Output Process::wait() {
  if (reaped_) return output_;
  int status = 0;
  rusage usage = {};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) continue;
  reaped_ = true;
  output_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  output_.out = contents(files_[1]);
  output_.err = contents(files_[2]);
  output_.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return output_;
}

Words with_program(Words arguments) {
  arguments.insert(arguments.begin(), PACELINE_PROGRAM);
  return arguments;
}

Output run(Words arguments, std::string_view input) {
  return Process(with_program(std::move(arguments)), input).wait();
}

Output run_script(const std::string& script) {
  return Process({"bash", "-c", "paceline=$1\n" + script, "bash", PACELINE_PROGRAM}).wait();
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

::testing::AssertionResult is_one_sentence(const Output& output, int code, const Words& parts) {
  auto no = ::testing::AssertionFailure();
  no << "exit " << output.code << ", stdout \"" << output.out << "\", stderr \"" << output.err << "\": ";
  if (output.code != code) return no << "the exit code should be " << code;
  if (!output.out.empty()) return no << "stdout should be empty";
  if (!output.err.starts_with("paceline: ")) return no << "it should begin with the program's name";
  if (output.err.find('\n') != output.err.size() - 1) return no << "one line is expected";
  for (const auto& part : parts)
    if (!has(output.err, part)) return no << "it should name \"" << part << "\"";
  return ::testing::AssertionSuccess();
}

void Scratch::SetUp() {
  before_ = fs::current_path();
  folder_ = new_folder();
  fs::current_path(folder_);
}

void Scratch::TearDown() {
  fs::current_path(before_);
  fs::remove_all(folder_);
}

void Scratch::write(const fs::path& path, std::string_view bytes) {
  FileWriter out(path);
  out.write(bytes);
  out.close();
}

Words Scratch::names() {
  Words all;
  for (const auto& entry : fs::recursive_directory_iterator(".")) all.push_back(entry.path().string());
  std::sort(all.begin(), all.end());
  return all;
}

void Scratch::refuses(const Words& arguments, const Words& parts, int code) {
  const Words before = names();
  EXPECT_TRUE(is_one_sentence(run(arguments), code, parts));
  EXPECT_EQ(names(), before) << "something was left behind";
}

const char* const review_label = "overall>=4:positive,overall<=2:negative";

Words prepare_pieces(const std::string& out, const Words& more) {
  Words all = {"prepare",   "--input",          "rows.csv",  "--label",       "label", "--tokenizer",
               "wordpiece", "--tokenizer-from", "vocab.txt", "--valid-share", "0.2",   "--out",
               out};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Words prepare_reviews(const fs::path& reviews, const fs::path& out, const Words& more) {
  Words all = {"prepare",    "--input", reviews.string(), "--format", "jsonl",     "--text",
               "reviewText", "--label", review_label,     "--out",    out.string()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

namespace {

// The folder of what is made once per process.
const fs::path& shared_folder() {
  struct Folder {
    fs::path path = new_folder();
    ~Folder() { fs::remove_all(path); }
  };
  static const Folder folder;
  return folder.path;
}

std::string make(const char* name, const std::function<Words(const std::string&)>& arguments) {
  std::string path = (shared_folder() / name).string();
  const Output output = run(arguments(path));
  if (output.code != 0) work_error("{} cannot be made: {}", name, output.err);
  return path;
}

}  // namespace

const std::string& tiny_reviews() {
  static const std::string path = make("reviews.jsonl", [](const std::string& out) {
    return Words{"generate", "reviews", "--rows", "1500", "--length", "12", "--out", out};
  });
  return path;
}

const std::string& tiny_data() {
  static const std::string path =
      make("data", [](const std::string& out) { return prepare_reviews(tiny_reviews(), out); });
  return path;
}

const std::string& tiny_pieces() {
  static const std::string path = make("pieces", [](const std::string& out) {
    const std::string words = read_file(tiny_data() + "/vocab.txt"), file = out + "-vocab.txt";
    // After the two words that stand for others.
    const std::string rest = words.substr(words.find('\n', words.find('\n') + 1) + 1);
    write_file_atomically(file, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + rest);
    return prepare_reviews(tiny_reviews(), out, {"--tokenizer", "wordpiece", "--tokenizer-from", file});
  });
  return path;
}

const std::string& tiny_packed() {
  static const std::string path = make("packed", [](const std::string& out) {
    return Words{"prepare",     "--input",   tiny_reviews(),     "--format",   "jsonl", "--text",
                 "reviewText",  "--pack",    "--max-length",     "32",         "--out", out,
                 "--tokenizer", "wordpiece", "--tokenizer-from", tiny_pieces()};
  });
  return path;
}

const std::string& tiny_run() {
  static const std::string path = make("run", [](const std::string& out) {
    return Words{"train", "--data", tiny_data(), "--out", out, "--buckets", "1000", "--epochs", "2"};
  });
  return path;
}

}  // namespace paceline
