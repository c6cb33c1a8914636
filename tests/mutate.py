#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutate.py BUILD-DIR [--some COUNT] [--seed SEED] [--check] [NAME...]

The tests notice what a tired person may do to a line: each change of mutants.list is
made to one file of the library, which is compiled anew and linked before the library,
and one of the tests named there must turn red.  None may survive.  --some takes so
many, by the seed that is printed; --check only says whether each still applies.

An entry of the list, whose text must stand exactly once in the file, or in the one of
that name in another room (several lines are several, `+` lines replace them, none deletes):

    [NAME] FILE
    test PROGRAM ARGUMENTS     of tests/bin; or `bats FILE ARGUMENTS`, with a taskq made anew;
                               before it, NAME=VALUE of its environment
    -TEXT
    +TEXT
"""
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "tests/mutants.list")
PATIENCE_S = 300  # a test that hangs has noticed, too


class Mutant:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.tests, self.old, self.new = [], "", ""

    def find(self):
        """Follow a file that has moved to another room."""
        name = os.path.basename(self.path)
        for room in ("shm", "scheduler", "client"):
            for folder, _, files in os.walk(os.path.join(ROOT, room)):
                if name in files and not os.path.exists(os.path.join(ROOT, self.path)):
                    self.path = os.path.relpath(os.path.join(folder, name), ROOT)

    def text(self):
        """The file with the change, or None when it does not apply."""
        self.find()
        path = os.path.join(ROOT, self.path)
        if not self.old or not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


def read_list():
    mutants = []
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"\[(\S+)\] (\S+)$", line)
            if head:
                mutants.append(Mutant(*head.groups()))
            elif line.startswith("test "):
                mutants[-1].tests.append(line[5:].strip())
            elif line.startswith("-"):
                mutants[-1].old += line[1:]
            elif line.startswith("+"):
                mutants[-1].new += line[1:]
    return mutants


def check(mutants):
    bad = [m.name for m in mutants if m.text() in (None, m.old) or not m.tests]
    for name in bad:
        print(f"mutants.list: {name} does not apply (its text must stand in its file once)")
    names = [m.name for m in mutants]
    for name in {n for n in names if names.count(n) > 1}:
        print(f"mutants.list: {name} stands there twice")
        bad.append(name)
    return not bad


def split(test):
    """Its environment, its program or `bats`, and arguments."""
    words = shlex.split(test)
    count = next(i for i, word in enumerate(words) if "=" not in word)
    return dict(word.split("=", 1) for word in words[:count]), words[count], words[count + 1:]


def target_of(test):
    program = split(test)[1]
    return "bin/taskq" if program == "bats" else "tests/bin/" + program


def passes(test, program, build):
    """Whether the test is green with this program in place of its own."""
    own, name, words = split(test)
    env = dict(os.environ, **own)
    if name == "bats":
        env["PATH"] = f"{os.path.dirname(program)}:{build}/bin:{env['PATH']}"
        words = ["bats", os.path.join(ROOT, "tests", words[0])] + words[1:]
    else:
        words = [program] + words
    try:
        return subprocess.run([os.path.join(ROOT, "tests/with_scratch.sh")] + words, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=PATIENCE_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def relink(mutant, test, build, work):
    """The test's program with the changed objects; None when it cannot be built."""
    program = os.path.join(work, os.path.basename(target_of(test)))
    if mutant.path.endswith(".h"):
        # Found before the tree's own by all who include it.
        text = os.path.join(work, mutant.path)
        compile_it = f'relink_bearing "$2" "$3" "-iquote{work}"'
    else:
        text = os.path.join(work, "changed.c")
        compile_it = 'relink_compile "$2/changed.o" "$3" "$4"'
    os.makedirs(os.path.dirname(text), exist_ok=True)
    with open(text, "w", encoding="utf-8") as file:
        file.write(mutant.text())
    script = (f'. tests/support/relink.bash; relink_begin "$1" && {compile_it}'
              ' && relink_link "$5" "$6" "$2"/*.o')
    done = subprocess.run(["bash", "-c", script, "_", build, work, mutant.path, text, program,
                           target_of(test)], cwd=ROOT)
    return program if done.returncode == 0 else None


def is_noticed(mutant, build, sound):
    """Which test turned red; None it survives."""
    with tempfile.TemporaryDirectory(prefix="taskq-mutate.") as work:
        for test in mutant.tests:
            program = relink(mutant, test, build, work)
            if not program:
                raise SystemExit(f"mutate: {mutant.name} does not compile")
            if test not in sound:
                sound[test] = passes(test, os.path.join(build, target_of(test)), build)
            if not sound[test]:
                raise SystemExit(f"mutate: {test} is red without any change")
            if not passes(test, program, build):
                return test
    return None


def main():
    build, *rest = sys.argv[1:]
    build, some, seed, names, only_check = os.path.abspath(build), 0, int(time.time()), [], False
    while rest:
        word = rest.pop(0)
        if word == "--some":
            some = int(rest.pop(0))
        elif word == "--seed":
            seed = int(rest.pop(0))
        elif word == "--check":
            only_check = True
        else:
            names.append(word)
    mutants = read_list()
    if not check(mutants):
        raise SystemExit(1)
    if only_check:
        raise SystemExit(0)
    if names:
        mutants = [m for m in mutants if m.name in names]
    if some:
        print(f"mutate: --some {some} --seed {seed}")
        mutants = random.Random(seed).sample(mutants, min(some, len(mutants)))
    sound, survivors = {}, 0
    for mutant in mutants:
        test = is_noticed(mutant, build, sound)
        survivors += test is None
        print(f"{mutant.name:28} {test or 'SURVIVES'}", flush=True)
    print(f"mutate: {len(mutants) - survivors} of {len(mutants)} changes noticed")
    raise SystemExit(survivors > 0 or not mutants)


if __name__ == "__main__":
    main()
