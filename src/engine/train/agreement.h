// What the workers of a run agree on before it begins: that none of them has a problem, and that program,
// configuration, data and kernels are the same.
#pragma once
#include "cluster/exchange/exchange.h"
#include "engine/train/run.h"

namespace paceline {

// Does a part of the start on every worker. When it throws on one of them all of them throw: rank 0 with
// the sentence, the others without one, since rank 0 says it. Alone: as if it were called.
void do_together(Exchange& exchange, const std::function<void()>& part);

// Rank 0's bytes on every worker, whatever their number.
std::string share_text(Exchange& exchange, const std::string& text);

// Each worker's facts, in the order of ranks. Throws InputError (like do_together) where program,
// configuration or data differ.
std::vector<WorkerFacts> exchange_facts(Exchange& exchange, const Run& run);

// What different probes mean for the bits; empty when they are all the same. can_be_portable: whether
// --portable-bits would help.
std::string remark_on_kernels(const std::vector<WorkerFacts>& workers, bool can_be_portable);

}  // namespace paceline
