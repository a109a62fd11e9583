// Training on several workers, as the command line sees it: starting them, and being one.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "cli/detach.h"
#include "cluster/launch/worker_environment.h"
#include "engine/api/engine.h"

namespace paceline::cli {

// Whether the options ask for workers that have to be started.
bool has_workers(const TrainOptions& options);
// Whether this process can see the folder of the run, which is on the machine of rank 0.
bool has_run_folder(const std::optional<WorkerEnvironment>& worker, const TrainOptions& options);

// Starts the workers, which run the same command, and waits for them; returns the exit code 0, or throws
// what ended them. job: they begin in the background, and what they print then goes into the run's folder.
int launch_workers(const TrainOptions& options, std::span<const std::string> arguments,
                   Detached* job = nullptr);

// One worker's part. Throws InputError, WorkError, Interrupted.
TrainResult train_as_worker(const WorkerEnvironment& worker, TrainOptions options);

// Under mpirun or srun: throws InputError when the options ask for more workers.
void refuse_own_workers(FieldTable& table);

// A worker's last words. The process ends here: MPI's own end would wait for workers that are gone.
[[noreturn]] void end_worker(const WorkerEnvironment& worker, const std::string& sentence, int code);

}  // namespace paceline::cli
