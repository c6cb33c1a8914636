#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh LIBRARY INCLUDE-DIR...: the shared library exports exactly the
# functions that the public headers declare, and
# fault.C7: each has a name by the rule of CONTRIBUTING: tq_noun_verb, or one of the few
# verbs of a life, which need no noun.
. "$(dirname "$0")/lib.sh"

library=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-exports.XXXXXX")
trap 'rm -rf "$work" "$lint_faults"' EXIT

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$work/exported"

# A declaration has a tq_ name before its first "(".
lint_declarations "$@" |
	sed -nE 's/^[^(]*[ *](tq_[a-z0-9_]+) ?\(.*/\1/p' | sort -u >"$work/declared"

comm -23 "$work/declared" "$work/exported" | lint_report 'declared, not exported'
comm -13 "$work/declared" "$work/exported" | lint_report 'exported, not declared'


nouns='after|answer|attempt|cause|claim|command|cron|error|exec|farm|graph|group|handler|histogram|kind'
nouns="$nouns|limit|lock|output|overlap|priority|queue|run|schedule|segment|server|task|times|trace"
nouns="$nouns|version|why|worker"
verbs='open|close|destroy|shutdown|check|check_report|submit|submit_many|submit_exec|wait'
verbs="$verbs|claim|claim_many|next|end|end_many|complete|fail|release|renew|strerror|handler|version"
grep -vxE "tq_(($nouns)_[a-z_]+|$verbs)" "$work/declared" |
	lint_report 'neither tq_noun_verb nor a verb of a life'

lint_done
