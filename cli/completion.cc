#include "base/error.h"
#include "cli/command.h"

namespace paceline::cli {
namespace {

struct Words {
  std::string name, flags;
};

std::vector<Words> words_of_commands() {
  std::vector<Words> all;
  for (const auto& entry : commands()) {
    FieldTable table;
    entry.make()->declare(table);
    Words words{entry.name, "--config --set --dump-config --help"};
    for (const auto& field : table.fields()) {
      if (!field.positional) words.flags += " --" + field.name;
      for (const auto& choice : field.choices)
        if (field.positional) words.flags += " " + choice;
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::string bash_script() {
  std::string names, cases;
  for (const auto& words : words_of_commands()) {
    names += words.name + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", words.name, words.flags);
  }
  return fmt::format(R"(# paceline completion bash > ~/.local/share/bash-completion/completions/paceline
_paceline() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}--help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _paceline paceline ./paceline
)",
                     names, cases);
}

std::string zsh_script() {
  std::string names, cases;
  for (const auto& words : words_of_commands()) {
    names += words.name + " ";
    cases += fmt::format("    {}) compadd -- {} ;;\n", words.name, words.flags);
  }
  return fmt::format(R"(#compdef paceline
# paceline completion zsh > a file named _paceline in a folder of $fpath
_paceline() {{
  if (( CURRENT == 2 )); then
    compadd -- {}--help --version
    return
  fi
  case ${{words[2]}} in
{}  esac
  _files
}}
compdef _paceline paceline
)",
                     names, cases);
}

std::string fish_script() {
  std::string out = "# paceline completion fish > ~/.config/fish/completions/paceline.fish\n";
  for (const auto& entry : commands()) {
    out += fmt::format("complete -c paceline -n __fish_use_subcommand -a {} -d '{}'\n", entry.name,
                       entry.summary);
    FieldTable table;
    entry.make()->declare(table);
    for (const auto& field : table.fields()) {
      if (field.positional) continue;
      std::string choices;
      for (const auto& choice : field.choices) choices += (choices.empty() ? "" : " ") + choice;
      out += fmt::format("complete -c paceline -n '__fish_seen_subcommand_from {}' -l {}{}{}\n", entry.name,
                         field.name, field.takes_value() ? " -r" : "",
                         choices.empty() ? "" : fmt::format(" -a '{}'", choices));
    }
  }
  return out;
}

class Completion final : public Command {
  void declare(FieldTable& table) override {
    table.positional("shell", &shell_, "The shell.").named("SHELL").one_of({"bash", "zsh", "fish"}).need();
  }
  int run() override {
    fmt::print("{}", shell_ == "bash" ? bash_script() : shell_ == "zsh" ? zsh_script() : fish_script());
    return 0;
  }
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion() { return std::make_unique<Completion>(); }

}  // namespace paceline::cli
