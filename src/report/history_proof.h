/* history_proof: why a history is violated, in words. */
#ifndef INTACT_REPORT_HISTORY_PROOF_H
#define INTACT_REPORT_HISTORY_PROOF_H

#include "history/judged.h"

/* One or two sentences. */
proof_text history_proof_text;

#endif
