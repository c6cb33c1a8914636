# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# bash: completes the lines of taskq.  The program says which verbs and options it has, and is
# asked for queues and tasks; nothing here waits, or makes a segment.

_taskq_ask() {
	"$program" "${segment[@]}" "$@" 2>/dev/null
}

# Sets operands and options of the verb $1; - is the line before the verb.
_taskq_verb() {
	local verb words rest

	operands='' options=''
	while IFS=$'\t' read -r verb words rest; do
		[[ $verb != "$1" ]] || { operands=$words options=$rest; return; }
	done <<<"$table"
}

# Completes what the help calls $1.
_taskq_value() {
	case $1 in
	*FILE*) compgen -f -- "$cur" ;;
	DIR) compgen -d -- "$cur" ;;
	QUEUE*) compgen -W "$(_taskq_ask stats -H -o queue)" -- "$cur" ;;
	ID*) compgen -W "$(_taskq_ask list -H -o id -n 200)" -- "$cur" ;;
	VERB) compgen -W "$(cut -f 1 <<<"$table" | sed '/^-/d')" -- "$cur" ;;
	'S[,S]') compgen -W "$(sed -n 's/^-state\t//p' <<<"$table")" -- "$cur" ;;
	COL) compgen -W "$(_taskq_ask list -o help | cut -d ' ' -f 1)" -- "$cur" ;;
	P) compgen -W 'low normal high critical' -- "$cur" ;;
	CMD) compgen -c -- "$cur" ;;
	ARG) compgen -f -- "$cur" ;;
	[a-z]*) compgen -W "${1//|/ }" -- "$cur" ;;
	esac
}

# Sets argument to what the option $1 takes; false: nothing.
_taskq_takes() {
	local word

	for word in $options; do
		[[ $word != "$1="* ]] || { argument=${word#*=}; return; }
	done
	return 1
}

# Reads what stands before the word that is asked for.
_taskq_before() {
	local word i

	_taskq_verb -
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == = || -n $inside ]]; then
			continue
		elif [[ -n $pending ]]; then
			[[ $pending != -s && $pending != --segment ]] || segment=(-s "$word")
			pending=''
		elif [[ $word == -- ]]; then
			inside=dashes
		elif [[ $word == -* ]]; then
			! _taskq_takes "$word" || pending=$word
		elif [[ -z $verb ]]; then
			verb=$word
			_taskq_verb "$verb"
		elif [[ " $operands " == *' CMD '* ]]; then
			inside=command
		fi
	done
	# The word behind -- is the command, what follows are its arguments.
	[[ $inside != dashes || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]] || inside=command
}

_taskq_words() {
	local word

	if [[ -n $pending ]]; then
		_taskq_takes "$pending"
		_taskq_value "$argument"
	elif [[ $inside == command ]]; then
		_taskq_value ARG
	elif [[ -z $inside && $cur == -* ]]; then
		compgen -W "$(for word in $options; do echo "${word%%=*}"; done)" -- "$cur"
	else
		for word in $operands; do
			[[ $word == ARG ]] || _taskq_value "$word"
		done
	fi
}

_taskq() {
	local cur=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} segment=()
	local table operands options argument='' pending='' inside='' verb='' glob=$-

	set -f
	table=$("$program" completion 2>/dev/null)
	[[ $cur != = ]] || cur=''
	_taskq_before
	mapfile -t COMPREPLY < <(_taskq_words | sort -u)
	[[ $glob == *f* ]] || set +f
}

complete -o filenames -F _taskq taskq
