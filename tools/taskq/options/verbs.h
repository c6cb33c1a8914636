/* SPDX-License-Identifier: MIT */
/*
 * The one table of verbs: name, function, which of the global options it has a use for (s, q, j,
 * f by their first letters), operands, summary, help, examples a line each.
 */
#ifndef TASKQ_TOOL_VERBS_H
#define TASKQ_TOOL_VERBS_H

#include "cli.h"

#define VERB_MAP(X)                                                                                \
	X(status, verb_status, "sqjf", "",                                                         \
	  "segment, queues and workers at a glance (also bare `taskq`)",                           \
	  "Exits 5 when there is no such segment.", "")                                            \
	X(submit, verb_submit, "sqjf", "[OPTION]... [--] CMD [ARG]...",                            \
	  "hand in a task and print its id",                                                       \
	  "The command runs in the current directory (or --cwd), with the "                        \
	  "worker's environment and --env on top, its input empty.  --kind K "                     \
	  "hands in a task for the handler of that kind instead, with "                            \
	  "--payload.  --batch reads one JSON object a line, as `taskq list "                      \
	  "--json` prints them; other options are defaults for its lines.  "                       \
	  "--graph reads tasks that depend on each other, and prints the id "                      \
	  "of their group.  --every and --cron make a schedule instead, and "                      \
	  "print its id; see `taskq schedule`.",                                                   \
	  "taskq submit -p high --retries 2 -- make -C build\n"                                    \
	  "taskq submit --at 22:30 -L nightly -- ./backup\n"                                       \
	  "taskq submit --every 10m --name poll -- ./poll")                                        \
	X(run, verb_run, "sqf", "[OPTION]... [--] CMD [ARG]...",                                   \
	  "run a command as a task: stream its output, give its exit code",                        \
	  "When no live worker serves the queue, it runs in a private queue "                      \
	  "with a worker of its own.  Ctrl-C or SIGTERM cancels the task and "                     \
	  "waits for its end.",                                                                    \
	  "taskq run -- make -j4\n"                                                                \
	  "taskq run --timeout 1h -o log.txt -- ./train")                                          \
	X(map, verb_map, "sqf", "[OPTION]... [--] CMD [ARG]...",                                   \
	  "run a command for each line of the input",                                              \
	  "{} in an argument is replaced by the line; without any, the line "                      \
	  "becomes the last argument.  Each task's output is printed in one "                      \
	  "piece.  Uses the workers of the queue when there are any and -j "                       \
	  "is not given, else private ones.  Exits 0, or 1 when a task "                           \
	  "failed.",                                                                               \
	  "find . -name '*.c' | taskq map -k -- wc -l {}\n"                                        \
	  "taskq map -j8 --retries 2 -- ./resize {} <files")                                       \
	X(work, verb_work, "sjf", "[OPTION]...", "run a farm of workers in the foreground",        \
	  "SIGTERM or Ctrl-C: finish what runs within the grace time; a "                          \
	  "second one: give it back at once.  SIGTTIN, SIGTTOU: one worker "                       \
	  "more, less.  Ctrl-Z is not obeyed: a stopped worker would hold up "                     \
	  "everybody.  Exits 0, or 1 when attempts were given back.",                              \
	  "taskq work -j4\n"                                                                       \
	  "taskq work -q urgent,default --until-empty")                                            \
	X(wait, verb_wait, "sqjf", "[OPTION]... [ID]...", "wait until tasks have ended",           \
	  "Exits with the task's own code; 124 it timed out, 126 or 127 its "                      \
	  "command could not be run, 128+N killed by signal N, 125 anything "                      \
	  "else, 75 not finished yet.  Several ids: 0, or 1 when any failed.  Without ids: for "   \
	  "all that match now and have not ended, and says how many.",                             \
	  "taskq wait 17-3\n"                                                                      \
	  "taskq wait --timeout 5m 17-3 18-1\n"                                                    \
	  "taskq wait -q default")                                                                 \
	X(list, verb_list, "sqjf", "[OPTION]...", "list tasks", "",                                \
	  "taskq list -S unfinished\n"                                                             \
	  "taskq list -S ready --sort wait --reverse -n 10\n"                                      \
	  "taskq list -S failed -H -o id,cause,what")                                              \
	X(show, verb_show, "sjf", "[OPTION]... ID...", "everything about a task", "",              \
	  "taskq show 17-3\n"                                                                      \
	  "taskq show -H -o state 17-3")                                                           \
	X(why, verb_why, "sjf", "[OPTION]... ID...",                                               \
	  "what keeps a task from running, in one sentence",                                       \
	  "The first reason that holds.  Takes no lock: what was true a "                          \
	  "moment ago.",                                                                           \
	  "taskq why 17-3")                                                                        \
	X(log, verb_log, "sf", "[OPTION]... ID", "print a task's output, also while it runs", "",  \
	  "taskq log -f 17-3")                                                                     \
	X(progress, verb_progress, "sf", "PERCENT [TEXT]",                                         \
	  "inside a task: say how far it has come",                                                \
	  "For the command of a task with --progress-timeout: the time "                           \
	  "begins anew.",                                                                          \
	  "taskq progress 40 'half of the files'")                                                 \
	X(checkpoint, verb_checkpoint, "sf", "[TEXT|@FILE]",                                       \
	  "inside a task: save, or print, what its next attempt needs",                            \
	  "Without an operand: prints what was saved last, by this attempt "                       \
	  "or an earlier one, and exits 1 when nothing was.  @- is standard "                      \
	  "input; at most 4096 bytes.",                                                            \
	  "taskq checkpoint \"$page\"\n"                                                           \
	  "page=$(taskq checkpoint)")                                                              \
	X(cancel, verb_cancel, "sqjf", "[OPTION]... [ID]...", "cancel tasks, waiting or running",  \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that have not ended, " \
	  "and says how many.",                                                                    \
	  "taskq cancel 17-3\n"                                                                    \
	  "taskq cancel -L nightly -S ready")                                                      \
	X(retry, verb_retry, "sqjf", "[OPTION]... [ID]...",                                        \
	  "give tasks that have ended a new life",                                                 \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that are failed, "     \
	  "cancelled or expired (or done, with -S done), and says how many.",                      \
	  "taskq retry 17-3\n"                                                                     \
	  "taskq retry --failed")                                                                  \
	X(update, verb_update, "sqjf", "[OPTION]... [ID]...",                                      \
	  "change priority, queue, delay or dependencies of waiting tasks",                        \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that wait, and says "  \
	  "how many.",                                                                             \
	  "taskq update -p high 17-3\n"                                                            \
	  "taskq update --delay 0 17-3")                                                           \
	X(hold, verb_hold, "sqjf", "[OPTION]... [ID]...", "keep tasks from starting",              \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that wait, and says "  \
	  "how many.",                                                                             \
	  "taskq hold 17-3\n"                                                                      \
	  "taskq hold -q default -L nightly")                                                      \
	X(unhold, verb_unhold, "sqjf", "[OPTION]... [ID]...", "let held tasks start",              \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that wait, and says "  \
	  "how many.",                                                                             \
	  "taskq unhold 17-3")                                                                     \
	X(forget, verb_forget, "sqjf", "[OPTION]... [ID]...",                                      \
	  "free the records of finished tasks",                                                    \
	  "Without ids: all that match -q, -S, -K, -L and --group, of those that have ended, and " \
	  "says how many.",                                                                        \
	  "taskq forget 17-3\n"                                                                    \
	  "taskq forget --failed")                                                                 \
	X(pause, verb_pause, "sqf", "[QUEUE]...", "start no more tasks of a queue",                \
	  "Without QUEUE: the one of -q, TASKQ_QUEUE, or \"default\".", "taskq pause urgent")      \
	X(resume, verb_resume, "sqf", "[QUEUE]...", "start tasks of a paused queue again", "",     \
	  "taskq resume urgent")                                                                   \
	X(drain, verb_drain, "sqf", "[OPTION]... [QUEUE]...",                                      \
	  "take no new tasks in a queue, finish the rest", "",                                     \
	  "taskq drain urgent\n"                                                                   \
	  "taskq drain --undo urgent")                                                             \
	X(purge, verb_purge, "sqjf", "[QUEUE]...", "cancel all tasks that wait in a queue", "",    \
	  "taskq purge urgent")                                                                    \
	X(queue, verb_queue, "sqjf", "set|show|list [OPTION]... [QUEUE]",                          \
	  "set or show the order and the limits of queues",                                        \
	  "set changes what its options name, at once for what comes; tasks "                      \
	  "that wait follow. show says in words what starts next, and what a "                     \
	  "task may be overtaken by.",                                                             \
	  "taskq queue set --ageing on --max-depth 10000\n"                                        \
	  "taskq queue show urgent")                                                               \
	X(kind, verb_kind, "sjf", "set KIND [OPTION]... | clear KIND | list",                       \
	  "set, take away or list the defaults of a kind of tasks",                                \
	  "What a task does not say itself is as its kind says, else as its "                      \
	  "queue.  A later change is for later tasks.  Commands are of kind "                      \
	  "exec.",                                                                                 \
	  "taskq kind set mail --timeout 30s --retries 5 --backoff 10s:10m\n"                      \
	  "taskq kind clear mail")                                                                 \
	X(limit, verb_limit, "sqjf",                                                               \
	  "set KEY [N] [OPTION]... | remove KEY | show KEY | list | "                              \
	  "set|remove --server PATTERN [N]",                                                       \
	  "how many tasks with a key may run at a time",                                           \
	  "Tasks name keys by `taskq submit --limit KEY`, the same in all "                        \
	  "queues.  A key without a limit is unlimited.  Lowering a limit "                        \
	  "ends nobody: no more start until enough have ended.  With "                             \
	  "--server, the limit of a queue's servers: of one by its name, or "                      \
	  "of all with a prefix together; the longest prefix decides.",                            \
	  "taskq limit set db 3\n"                                                                 \
	  "taskq limit set api --rate 10/s --burst 20\n"                                           \
	  "taskq limit set --server 'http://*' 8")                                                 \
	X(server, verb_server, "sqjf", "add SERVER... | remove SERVER...|--all | list",            \
	  "where the tasks of a queue run",                                                        \
	  "A task of a queue with servers starts at the one with the fewest "                      \
	  "of them that has room; a command finds its name in TASKQ_SERVER.  "                     \
	  "`taskq limit set --server` says how many may run there.  remove "                       \
	  "starts nothing more there, and lets what runs go on.",                                  \
	  "taskq server add http://a http://b\n"                                                   \
	  "taskq server remove http://a")                                                          \
	X(group, verb_group, "sqjf",                                                               \
	  "new|seal|wait|show|cancel|list [OPTION]... [GROUP]... [-- CMD "                         \
	  "[ARG]...]",                                                                             \
	  "tasks that are counted together, and what runs after the last one",                     \
	  "new prints the group's id; with a command, that starts when all "                       \
	  "members have ended. Tasks join by `taskq submit --group`, until "                       \
	  "seal.  wait exits with 0, 1 when any member is not done, 75 when "                      \
	  "some have not ended yet.",                                                              \
	  "group=$(taskq group new -- ./report)\n"                                                 \
	  "taskq group seal $group\n"                                                              \
	  "taskq group wait $group")                                                               \
	X(graph, verb_graph, "sjf", "[OPTION]... ID|GROUP",                                        \
	  "what depends on what, as text or as a picture",                                         \
	  "Of a task: all that it waits for and all that waits for it, and "                       \
	  "so on; it is in layer 0.  Of a group, such as `submit --graph` "                        \
	  "makes: its members.  Takes no lock.",                                                   \
	  "taskq graph 17-3\n"                                                                     \
	  "taskq graph --svg build.svg $group")                                                    \
	X(schedule, verb_schedule, "sqjf", "list|show|pause|resume|remove [OPTION]... [ID]...",    \
	  "list, show and steer what `submit --every` and `submit --cron` "                        \
	  "made",                                                                                  \
	  "pause makes no runs until resume, and does not catch up; remove "                       \
	  "is for good.  Runs that are made already are tasks like others, "                       \
	  "and go on.",                                                                            \
	  "taskq schedule list\n"                                                                  \
	  "taskq schedule pause poll")                                                             \
	X(command, verb_command, "sqjf", "send|list|show|cancel [OPTION]... [NAME [ARG] | ID]",    \
	  "tell workers and farms what to do, and read their answers",                             \
	  "Commands come before tasks, in order.  A farm knows stop (after "                       \
	  "what runs, for good), reload (fresh workers) and resize N; to one "                     \
	  "of its workers: stop, reload.  Other names are for its host's "                         \
	  "handler.  all: the farms for these three, else all workers.",                           \
	  "taskq command send reload\n"                                                            \
	  "taskq command send --to farms resize 8")                                                \
	X(stats, verb_stats, "sqjf", "[OPTION]...",                                                \
	  "counters and times of the queues, and the segment's memory",                            \
	  "Times are waits from ready to start and runs, of each attempt, "                        \
	  "and whole lives of tasks that are done or failed: at most an "                          \
	  "eighth above the true value.",                                                          \
	  "taskq stats --interval 1s\n"                                                            \
	  "taskq stats -H -o queue,done,failed")                                                   \
	X(exporter, verb_exporter, "", "[OPTION]...",                                              \
	  "metrics for Prometheus, JSON and a page, over HTTP", "", "taskq exporter")              \
	X(trace, verb_trace, "sjf", "[OPTION]...",                                                 \
	  "the last transitions, as the segment recorded them",                                    \
	  "Takes no lock, and does not wake anybody: --follow looks 20 times "                     \
	  "a second.  --chrome writes what chrome://tracing and "                                  \
	  "ui.perfetto.dev show: a lane for each worker, a slice for each "                        \
	  "attempt.",                                                                              \
	  "taskq trace --task 17-3\n"                                                              \
	  "taskq trace --chrome trace.json")                                                       \
	X(create, verb_create, "sqf", "[OPTION]...", "make a segment",                             \
	  "Exits 1 when it exists already.  With -q also makes that queue.",                       \
	  "taskq create --max 256M --retention 1d")                                                \
	X(destroy, verb_destroy, "sf", "[OPTION]...", "remove a segment with all that it holds",   \
	  "", "taskq destroy")                                                                     \
	X(dump, verb_dump, "sf", "", "print all that is unfinished, for `taskq load`",              \
	  "Tasks with their dependencies, groups, limits, settings of queues "                     \
	  "and schedules, a JSON object a line.  Takes no lock, and changes "                      \
	  "nothing: let what runs end first, or it is in the dump to be run "                      \
	  "again.",                                                                                \
	  "taskq dump >queue.jsonl")                                                               \
	X(load, verb_load, "sqjf", "[OPTION]... FILE|-",                                           \
	  "take over what `taskq dump` has printed",                                               \
	  "As a whole: nothing of it starts before all of it is there.  When "                     \
	  "it is killed, the same command goes on; a second time it loads "                        \
	  "nothing.  --json prints each task's id in the dump, and here.",                         \
	  "taskq load --dry-run queue.jsonl\n"                                                     \
	  "taskq load queue.jsonl")                                                                \
	X(info, verb_info, "sjf", "", "size, use and age of a segment", "", "")                    \
	X(shutdown, verb_shutdown, "sf", "[OPTION]...",                                            \
	  "refuse new tasks, finish the rest, stop the workers", "",                               \
	  "taskq shutdown --wait\n"                                                                \
	  "taskq shutdown --undo")                                                                 \
	X(check, verb_check, "sjf", "[OPTION]...", "verify a segment, live or dead",               \
	  "Exits 0 sound, 7 damaged, 1 repaired.",                                                 \
	  "taskq check\n"                                                                          \
	  "taskq check --repair")                                                                  \
	X(completion, verb_completion, "", "",                                                     \
	  "print all verbs with their options, for a shell's completion",                          \
	  "For programs: verb, operands and options in three columns with a tab between them.  "   \
	  "share/bash-completion/completions/taskq is made of it, and found by bash-completion; "  \
	  "else: source it.",                                                                      \
	  "taskq completion | cut -f 1")                                                           \
	X(version, verb_version, "j", "", "print the version", "", "")                             \
	X(help, verb_help, "", "[VERB]", "explain a verb", "", "taskq help submit")

#define VERB_DECLARE(name, run, globals, args, summary, text, examples) verb_run_fn run;
VERB_MAP(VERB_DECLARE)
#undef VERB_DECLARE

#endif
