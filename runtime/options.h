/*
 * options: INTACT_OPTIONS, one row each: name, kind, default, help.
 *
 * The sanitizers' conventions: key=value separated by colons or blanks. The
 * runtime and the tool read the same table; each uses the rows it needs.
 * Kinds: B true or false, N number, S text.
 */
#ifndef INTACT_RUNTIME_OPTIONS_H
#define INTACT_RUNTIME_OPTIONS_H

#define RT_OPTIONS(X)                                                                                    \
	X(all, B, "0", "show all findings, also those whose pattern is most often meant")                \
	X(atexit_report, B, "1", "report when the program ends; 0: only under `intact run`")             \
	X(color, S, "auto", "colours in reports: auto, always or never")                                 \
	X(exitcode, N, "66", "exit status of a program with findings; 0 keeps its own")                  \
	X(explore, S, "", "descriptor of the memory shared with `intact explore`")                       \
	X(gen_suppressions, B, "0", "end each report with a suppression for it")                         \
	X(halt_on_error, B, "0", "stop at the first finding")                                            \
	X(help, B, "0", "print this list")                                                               \
	X(history_size, N, "256", "critical sections remembered per thread, 4 to 256")                   \
	X(locks, B, "0", "report locks taken in a circle, or released or destroyed by who must not")     \
	X(log_path, S, "stderr", "where reports go: stderr, stdout, or a file (.PID is added)")          \
	X(only, S, "", "look only for these, separated by commas: atomicity, races, locks")              \
	X(perturb, N, "0", "delay threads where findings are predicted, chosen by this seed; 0: do not") \
	X(perturb_ms, N, "10", "the longest of these delays, in milliseconds")                           \
	X(print_suppressions, B, "1", "list the suppressions that matched")                              \
	X(races, B, "0", "report data races")                                                            \
	X(record, S, "", "file to record the events to (`intact trace` reads it)")                       \
	X(report_loops, B, "0", "also report loops that only repeat one critical section")               \
	X(socket, S, "", "socket on which `intact run` listens")                                         \
	X(spec, S, "", "specification file: what is atomic")                                             \
	X(strict, B, "0", "report functions at any call distance from their locks")                      \
	X(strip_path_prefix, S, "", "prefix to remove from file names")                                  \
	X(suppressions, S, "", "suppression files, separated by commas")                                 \
	X(tool, S, "", "the intact program that symbolises")                                             \
	X(top, N, "0", "show only so many findings; 0: no limit")                                        \
	X(verbosity, N, "0", "1: log what the runtime does")

#endif
