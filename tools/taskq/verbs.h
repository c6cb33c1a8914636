/* SPDX-License-Identifier: MIT */
/* The one table of verbs: name, function, operands, summary, help. */
#ifndef TASKQ_TOOL_VERBS_H
#define TASKQ_TOOL_VERBS_H

#include "cli.h"

#define VERB_MAP(X)                                                                                \
	X(status, verb_status, "", "segment, queues and workers at a glance (also bare `taskq`)",  \
	  "Exits 5 when there is no such segment.")                                                \
	X(submit, verb_submit, "[OPTION]... [--] CMD [ARG]...", "hand in a task and print its id", \
	  "The command runs in the current directory (or --cwd), with the "                        \
	  "worker's environment and --env on top, its input empty.  --kind K "                     \
	  "hands in a task for the handler of that kind instead, with "                            \
	  "--payload.  --batch reads one JSON object a line, as `taskq list "                      \
	  "--json` prints them; other options are defaults for its lines.  "                       \
	  "--graph reads tasks that depend on each other, and prints the id of "                   \
	  "their group.  --every and --cron make a schedule instead, and print "                   \
	  "its id; see `taskq schedule`.")                                                         \
	X(run, verb_run, "[OPTION]... [--] CMD [ARG]...",                                          \
	  "run a command as a task: stream its output, give its exit code",                        \
	  "When no live worker serves the queue, it runs in a private queue "                      \
	  "with a worker of its own.  Ctrl-C or SIGTERM cancels the task and "                     \
	  "waits for its end.")                                                                    \
	X(map, verb_map, "[OPTION]... [--] CMD [ARG]...",                                          \
	  "run a command for each line of the input",                                              \
	  "{} in an argument is replaced by the line; without any, the line "                      \
	  "becomes the last argument.  Each task's output is printed in one "                      \
	  "piece.  Uses the workers of the queue when there are any and -j is "                    \
	  "not given, else private ones.  Exits 0, or 1 when a task failed.")                      \
	X(work, verb_work, "[OPTION]...", "run a farm of workers in the foreground",               \
	  "SIGTERM or Ctrl-C: finish what runs within the grace time; a second "                   \
	  "one: give it back at once.  SIGTTIN, SIGTTOU: one worker more, less."                   \
	  "  Ctrl-Z is not obeyed: a stopped worker would hold up everybody.  "                    \
	  "Exits 0, or 1 when attempts were given back.")                                          \
	X(wait, verb_wait, "[OPTION]... ID...", "wait until tasks have ended",                     \
	  "Exits with the task's own code; 124 it timed out, 126 or 127 its "                      \
	  "command could not be run, 128+N killed by signal N, 125 anything "                      \
	  "else, 75 not finished yet.  Several ids: 0, or 1 when any failed.")                     \
	X(list, verb_list, "[OPTION]...", "list tasks", "Exits 1 when no task matches.")           \
	X(show, verb_show, "[OPTION]... ID...", "everything about a task", "")                     \
	X(why, verb_why, "[OPTION]... ID...", "what keeps a task from running, in one sentence",   \
	  "The first reason that holds.  Takes no lock: what was true a moment "                   \
	  "ago.")                                                                                  \
	X(log, verb_log, "[OPTION]... ID", "print a task's output, also while it runs", "")        \
	X(progress, verb_progress, "PERCENT [TEXT]", "inside a task: say how far it has come",     \
	  "For the command of a task with --progress-timeout: the time begins "                    \
	  "anew.")                                                                                 \
	X(checkpoint, verb_checkpoint, "[TEXT|@FILE]",                                             \
	  "inside a task: save, or print, what its next attempt needs",                            \
	  "Without an operand: prints what was saved last, by this attempt or an "                 \
	  "earlier one, and exits 1 when nothing was.  @- is standard input; at "                  \
	  "most 4096 bytes.")                                                                      \
	X(cancel, verb_cancel, "[OPTION]... [ID]...", "cancel tasks, waiting or running",          \
	  "Without ids: all that match --queue, --state, --kind and --label, "                     \
	  "and says how many.")                                                                    \
	X(retry, verb_retry, "[OPTION]... [ID]...",                                                \
	  "give failed, cancelled or expired tasks a new life", "")                                \
	X(update, verb_update, "[OPTION]... ID...",                                                \
	  "change priority, queue, delay or dependencies of waiting tasks", "")                    \
	X(hold, verb_hold, "ID...", "keep tasks from starting", "")                                \
	X(unhold, verb_unhold, "ID...", "let held tasks start", "")                                \
	X(forget, verb_forget, "[OPTION]... [ID]...", "free the records of finished tasks", "")    \
	X(pause, verb_pause, "[QUEUE]...", "start no more tasks of a queue",                       \
	  "Without QUEUE: the one of -q, TASKQ_QUEUE, or \"default\".")                            \
	X(resume, verb_resume, "[QUEUE]...", "start tasks of a paused queue again", "")            \
	X(drain, verb_drain, "[OPTION]... [QUEUE]...",                                             \
	  "take no new tasks in a queue, finish the rest", "")                                     \
	X(purge, verb_purge, "[QUEUE]...", "cancel all tasks that wait in a queue", "")            \
	X(queue, verb_queue, "set|show|list [OPTION]... [QUEUE]",                                  \
	  "set or show the order and the limits of queues",                                        \
	  "set changes what its options name, at once for what comes; tasks "                      \
	  "that wait follow. show says in words what starts next, and what a "                     \
	  "task may be overtaken by.")                                                             \
	X(limit, verb_limit,                                                                       \
	  "set KEY [N] [OPTION]... | remove KEY | show KEY | list | set|remove "                   \
	  "--server PATTERN [N]",                                                                  \
	  "how many tasks with a key may run at a time",                                           \
	  "Tasks name keys by `taskq submit --limit KEY`, the same in all "                        \
	  "queues.  A key without a limit is unlimited.  Lowering a limit ends "                   \
	  "nobody: no more start until enough have ended.  With --server, the "                    \
	  "limit of a queue's servers: of one by its name, or of all with a "                      \
	  "prefix together; the longest prefix decides.")                                          \
	X(server, verb_server, "add SERVER... | remove SERVER...|--all | list",                    \
	  "where the tasks of a queue run",                                                        \
	  "A task of a queue with servers starts at the one with the fewest of "                   \
	  "them that has room; a command finds its name in TASKQ_SERVER.  "                        \
	  "`taskq limit set --server` says how many may run there.  remove "                       \
	  "starts nothing more there, and lets what runs go on.")                                  \
	X(group, verb_group,                                                                       \
	  "new|seal|wait|show|cancel|list [OPTION]... [GROUP]... [-- CMD "                         \
	  "[ARG]...]",                                                                             \
	  "tasks that are counted together, and what runs after the last one",                     \
	  "new prints the group's id; with a command, that starts when all "                       \
	  "members have ended. Tasks join by `taskq submit --group`, until "                       \
	  "seal.  wait exits with 0, 1 when any member is not done, 75 when "                      \
	  "some have not ended yet.")                                                              \
	X(graph, verb_graph, "[OPTION]... ID|GROUP",                                               \
	  "what depends on what, as text or as a picture",                                         \
	  "Of a task: all that it waits for and all that waits for it, and so "                    \
	  "on; it is in layer 0.  Of a group, such as `submit --graph` makes: "                    \
	  "its members.  Takes no lock.")                                                          \
	X(schedule, verb_schedule, "list|show|pause|resume|remove [OPTION]... [ID]...",            \
	  "list, show and steer what `submit --every` and `submit --cron` made",                   \
	  "pause makes no runs until resume, and does not catch up; remove is "                    \
	  "for good.  Runs that are made already are tasks like others, and go "                   \
	  "on.")                                                                                   \
	X(command, verb_command, "send|list|show|cancel [OPTION]... [NAME [ARG] | ID]",            \
	  "tell workers and farms what to do, and read their answers",                             \
	  "Commands come before tasks, in order.  A farm knows stop (after what"                   \
	  " runs, for good), reload (fresh workers) and resize N; to one of its"                   \
	  " workers: stop, reload.  Other names are for its host's handler.  "                     \
	  "all: the farms for these three, else all workers.")                                     \
	X(stats, verb_stats, "[OPTION]...",                                                        \
	  "counters and times of the queues, and the segment's memory",                            \
	  "Times are waits from ready to start and runs, of each attempt, and "                    \
	  "whole lives of tasks that are done or failed: at most an eighth "                       \
	  "above the true value.")                                                                 \
	X(exporter, verb_exporter, "[OPTION]...",                                                  \
	  "metrics for Prometheus, JSON and a page, over HTTP", "")                                \
	X(trace, verb_trace, "[OPTION]...", "the last transitions, as the segment recorded them",  \
	  "Takes no lock, and does not wake anybody: --follow looks 20 times a "                   \
	  "second.  --chrome writes what chrome://tracing and ui.perfetto.dev "                    \
	  "show: a lane for each worker, a slice for each attempt.")                               \
	X(create, verb_create, "[OPTION]...", "make a segment",                                    \
	  "Exits 1 when it exists already.  With -q also makes that queue.")                       \
	X(destroy, verb_destroy, "[OPTION]...", "remove a segment with all that it holds", "")     \
	X(info, verb_info, "", "size, use and age of a segment", "")                               \
	X(shutdown, verb_shutdown, "[OPTION]...",                                                  \
	  "refuse new tasks, finish the rest, stop the workers", "")                               \
	X(check, verb_check, "[OPTION]...", "verify a segment, live or dead",                      \
	  "Exits 0 sound, 7 damaged, 1 repaired.")                                                 \
	X(version, verb_version, "", "print the version", "")                                      \
	X(help, verb_help, "[VERB]", "explain a verb", "")

#define VERB_DECLARE(name, run, args, summary, text) verb_run_fn run;
VERB_MAP(VERB_DECLARE)
#undef VERB_DECLARE

#endif
