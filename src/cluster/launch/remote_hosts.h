// Other machines, reached over ssh: whether they can take part, and the program brought to those that
// lack it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launch/mpirun_command.h"

namespace paceline {

// The words that run a command on another machine: PACELINE_SSH, or ssh that asks for no password and
// waits ten seconds for a connection.
std::string ssh_command();

// Text as one word of a shell.
std::string shell_quoted(const std::string& text);

// Looks at all hosts at once, and copies this program to those that have no copy of it: into
// ~/.cache/paceline, where it stays for the next time. remark is called from this thread with what takes
// long. Throws InputError that names the host: it cannot be reached, has no Open MPI or another version
// of it, or cannot run the program.
std::vector<WorkerGroup> prepare_hosts(const std::vector<Host>& hosts, const std::string& ssh,
                                       const std::function<void(const std::string&)>& remark);

}  // namespace paceline
