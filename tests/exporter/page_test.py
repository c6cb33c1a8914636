#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of taskq-exporter, in a real browser.  Run by with_scratch.sh."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from browser import ENTER, ESCAPE, WITH_PARENT, Browser, eventually, is_installed

SCRATCH = os.environ.get("TASKQ_TEST_TMP", "")
PHONE, DESKTOP = (360, 740), (1280, 800)
SECTIONS = ["headline", "unfinished", "finished", "rates", "queues", "workers", "limits", "segment",
            "schedules", "groups"]  # fmt: skip
HOSTILE = "<img src=x onerror=\"window.hacked = 1\"><b>bold</b>"


class Page(unittest.TestCase):
    """Each test has a segment, an exporter and whatever it starts; the browser is shared."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(SCRATCH)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.segment = f"{os.environ['TASKQ_TEST_ID']}-{self._testMethodName}"
        self.addCleanup(self.taskq, "destroy", "--force")
        self.taskq("create")
        self.start_exporter()
        self.browser.show(*DESKTOP)

    def taskq(self, *arguments):
        """What it prints; objects when --json is among the arguments."""
        command = ["taskq", "-s", self.segment, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if "--json" not in arguments:
            return done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def start(self, *command):
        child = subprocess.Popen(
            [*WITH_PARENT, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        child.send_signal(signal.SIGCONT)
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()

    def start_exporter(self, port=0):
        """At any port that is free, or the one that it had."""
        listen = f"127.0.0.1:{port}"
        self.exporter = self.start("taskq-exporter", "-s", self.segment, "-l", listen, "--json")
        announced = json.loads(self.exporter.stdout.readline())
        self.url, self.port = announced["url"], announced["port"]

    def farm(self, *arguments):
        return self.start("taskq", "work", "-s", self.segment, *arguments)

    def work_off(self, *arguments):
        self.taskq("work", "-j1", "-Q", "--until-empty", *arguments)

    def open(self, where=""):
        """Until the first look has been shown."""
        self.browser.open("about:blank")  # so that another #... loads the page anew
        self.browser.complaints()
        self.browser.open(self.url + where)
        self.until(lambda: self.text("#name") == self.segment)

    def until(self, condition, seconds=5):
        self.assertTrue(eventually(seconds, condition), self.text("#headline"))

    def text(self, selector):
        return self.browser.run(
            "return document.querySelector(arguments[0])?.innerText ?? ''", selector
        )

    def figures(self, section):
        """{caption: figure} of a <dl>."""
        script = """return Object.fromEntries(Array.from(
            document.querySelectorAll(`#${arguments[0]} dt`),
            (dt) => [dt.innerText, dt.nextSibling.innerText]))"""
        return self.browser.run(script, section)

    def rows(self, section):
        """Rows of a table, as {heading: text}."""
        script = """const table = document.querySelector(`#${arguments[0]} table`);
            const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
            return Array.from(table.tBodies[0].rows, (row) => Object.fromEntries(
                Array.from(row.cells, (cell, at) => [heads[at], cell.textContent])))"""
        return self.browser.run(script, section)

    def show_once(self, **changes):
        """The last look with other things in it, and no look afterwards."""
        self.browser.run(
            """live.every = 0;
            live.turn++; // an answer that is under way comes too late
            plan();
            show({ ...live.data, ...arguments[0] });""",
            changes,
        )

    def level(self):
        return self.browser.run("return document.querySelector('#headline').dataset.level")

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints(), [])

    # What is shown

    def test_everything_fits(self):
        """H7: at phone and desktop width, light and dark, all is shown and nothing sticks out."""
        self.taskq("submit", "-q", "a" * 60, "-L", "w" * 250, "--limit", "l" * 60, "--", "true")
        self.taskq("submit", "-q", "b", "--", "true")
        self.farm("-j2", "-q", "b", "--name", "n" * 30)
        for width, height in (PHONE, DESKTOP):
            papers = set()
            for dark in (False, True):
                self.browser.show(width, height, dark)
                self.open()
                self.until(lambda: len(self.rows("workers")) == 3)
                wide = "return document.scrollingElement.scrollWidth"
                self.assertEqual(self.browser.run(wide), width)
                for section in SECTIONS:
                    box = "return document.getElementById(arguments[0]).checkVisibility()"
                    self.assertTrue(self.browser.run(box, section), section)
                paper = "return getComputedStyle(document.body).backgroundColor"
                papers.add(self.browser.run(paper))
                self.assert_quiet()
            self.assertEqual(len(papers), 2, "dark looks as light")

    def test_numbers(self):
        """H7: the numbers, and their forms, are those of the programs."""
        self.taskq("limit", "set", "db", "3")
        for i in range(12):
            command = ("false",) if i % 4 == 3 else ("true",)
            self.taskq("submit", "-q", "mail", "--limit", "db", "--", *command)
        self.work_off("-q", "mail")
        self.taskq("submit", "-q", "mail", "--delay", "1h", "--", "true")
        self.taskq("submit", "-q", "news", "--", "true")
        self.taskq("submit", "-q", "news", "--hold", "--", "true")
        self.open()
        self.until(lambda: self.figures("finished")["done"] == "9")
        self.assertEqual(
            self.figures("unfinished"),
            {
                "ready": "1",
                "running": "0",
                "delayed": "1",
                "blocked": "0",
                "held": "1",
                "throttled": "0",
            },
        )
        self.assertEqual(
            self.figures("finished"), {"done": "9", "failed": "3", "cancelled": "0", "expired": "0"}
        )
        row = next(row for row in self.rows("queues") if row["Queue"] == "mail")
        self.assertEqual((row["Failed"], row["Delayed"], row["Ready"]), ("3", "1", "0"))
        (limit,) = self.rows("limits")
        self.assertEqual((limit["Key"], limit["Slots"]), ("db", "3"))
        memory = re.search(r"memory +(\S+) used of (\S+) reserved", self.taskq("info"))
        shown = self.figures("facts")["Memory"]
        self.assertEqual(shown, f"{memory[1]} of 1G, {memory[2]} reserved")

    def test_times(self):
        """H7: how long tasks wait and run reads as `taskq stats` prints it."""
        for _ in range(3):
            self.taskq("submit", "-q", "mail", "--", "true")
        self.work_off("-q", "mail")
        self.open()
        self.until(lambda: [row["Run p99"] != "-" for row in self.rows("queues")] == [True])
        (row,) = self.rows("queues")
        lines = self.taskq("stats", "-q", "mail").splitlines()
        printed = dict(line.split(maxsplit=1) for line in lines)
        for what in ("wait", "run"):
            words = printed[what].split()
            for quantile in ("p50", "p99"):
                text = words[words.index(quantile) + 1]
                self.assertEqual(row[f"{what.capitalize()} {quantile}"], text)

    def test_forms_of_quantities(self):
        """H7: durations, sizes and counts at the edges read as tools/common/format.c has them."""
        self.open()
        script = "return [duration, size, count, rate][arguments[0]](arguments[1])"
        for which, value, text in (
            (0, 0, "0ms"), (0, 1, "1e-06ms"), (0, 123456, "0.12ms"), (0, 9990000, "10ms"),
            (0, 999999999, "999ms"), (0, 1950000000, "1.9s"), (0, 59.9e9, "59s"),
            (0, 61e9, "1m01s"), (0, 3600e9, "1h00m"), (0, 90000e9, "1d01h"),
            (1, 1023, "1023"), (1, 1024, "1K"), (1, 2359296, "2.2M"), (1, 1 << 30, "1G"),
            (1, 10.5 * 1024, "10K"), (2, 999, "999"), (2, 12345, "12,345"),
            (2, 123456, "123k"), (2, 4194304, "4.19M"), (3, 0.01, "0.1"), (3, 1234, "1.2k"),
        ):  # fmt: skip
            self.assertEqual(self.browser.run(script, which, value), text)

    def test_is_live(self):
        """H7: what goes on is seen without a reload, and nothing on the page moves by it."""
        self.taskq("submit", "-q", "mail", "--", "true")
        self.farm("-j1", "-q", "mail")
        self.open()
        self.until(lambda: self.figures("finished")["done"] == "1")
        self.until(lambda: len(self.rows("workers")) == 2)
        places = """return Array.from(document.querySelectorAll('section, h2, th, dt, dd, svg'),
            (each) => JSON.stringify(each.getBoundingClientRect())).join()"""
        before = self.browser.run(places)
        for _ in range(3):
            self.taskq("submit", "-q", "mail", "--", "true")
        self.until(lambda: self.figures("finished")["done"] == "4")
        line = "return document.querySelector('#rates .line').getAttribute('d') ?? ''"
        self.until(lambda: self.browser.run(line).count("L") >= 3)
        self.assertEqual(self.browser.run(places), before)
        (queue,) = self.browser.run("return live.data.queues")
        much = {"failed": 99999, "throttled": 123456, "done": 4194304, "oldest_ready_ns": 86399e9}
        times = {"count": 1, "p50_ns": 0.33e6, "p99_ns": 86399e9}
        self.show_once(queues=[queue | much | {"wait": times, "run": times}])
        self.assertEqual(self.rows("queues")[0]["Wait p99"], "23h59m")
        self.assertEqual(self.browser.run(places), before)
        self.assert_quiet()

    def test_refresh(self):
        """H7: paused asks nothing, and so does a hidden page; both go on afterwards."""
        requests = "return performance.getEntriesByType('resource').length"
        self.open()
        pause = """document.querySelector('#every').value = arguments[0];
            document.querySelector('#every').dispatchEvent(new Event('change'))"""
        self.browser.run(pause, "0")
        self.until(lambda: self.text("#pulse").endswith("old"))
        before = self.browser.run(requests)
        self.until(lambda: self.text("#pulse") >= "3s")
        self.assertEqual(self.browser.run(requests), before)
        self.browser.run(pause, "1000")
        self.until(lambda: self.text("#pulse") == "live")
        hide = """Object.defineProperty(document, 'hidden',
                { value: arguments[0], configurable: true });
            document.dispatchEvent(new Event('visibilitychange'))"""
        self.browser.run(hide, True)
        self.until(lambda: self.browser.run("return Date.now() - live.looked") > 2500)
        before = self.browser.run(requests)
        self.taskq("submit", "-q", "new", "--delay", "1h", "--", "true")
        self.browser.run(hide, False)
        self.until(lambda: self.figures("unfinished")["delayed"] == "1")
        self.assertGreater(self.browser.run(requests), before)

    def test_paused_is_no_state(self):
        """H7: a page that is paused does not stay green: it says how old it is."""
        self.open()
        self.until(lambda: self.level() == "good")
        self.browser.run(
            """const every = document.querySelector('#every');
            every.value = '0';
            every.dispatchEvent(new Event('change'))"""
        )
        self.assertEqual(self.level(), "paused")
        self.assertRegex(self.text("#verdict"), r"^Paused, [\d.]+m?s old$")
        self.assertIn("Then: All is well", self.text("#summary"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('.stale').length"), 1)
        self.assertIn("Paused", self.browser.run("return document.title"))

    def test_unknown_queue(self):
        """H7: the tasks of a queue that is not there are not looked for for ever."""
        self.open("#/queue/missing")
        self.until(lambda: "no such queue" in self.text("#refusal"))
        self.assertNotIn("Looking", self.text("#detail-body"))
        above, below = self.browser.run(
            """const box = document.querySelector('#detail').getBoundingClientRect();
            return [box.top, innerHeight - box.bottom]"""
        )
        self.assertLessEqual(abs(above - below), 2)

    # When something is wrong

    def test_stopped_lock_holder(self):
        """H7 I7: a stopped lock holder is named, in the headline and in the title."""
        self.open()
        self.until(lambda: self.level() == "good")
        holder = self.start(os.environ["TASKQ_LOCK_HOLDER"], self.segment)
        self.until(lambda: f"lock held by stopped pid {holder.pid}" in self.text("#troubles"))
        self.assertEqual(self.level(), "bad")
        self.assertIn("Work does not go on", self.browser.run("return document.title"))
        self.assertIn(f"kill -CONT {holder.pid}", self.text("#troubles"))
        self.assertIn("stopped pid", self.browser.run("return news.textContent"))
        self.assertIn(f"held by pid {holder.pid}", self.figures("facts")["Lock"])
        holder.send_signal(signal.SIGCONT)
        self.until(lambda: self.level() == "good")
        self.assertEqual(self.text("#troubles"), "")
        self.assert_quiet()

    def test_server_goes_and_comes(self):
        """H7: a server that is gone is told with the age of the last look; then it recovers."""
        self.taskq("submit", "-q", "mail", "--", "true")
        self.work_off("-q", "mail")
        self.open()
        self.exporter.kill()
        self.exporter.wait()
        self.until(lambda: self.level() == "lost")
        self.assertEqual(self.text("#verdict"), "No answer from the server")
        ages = r"^The last look was [\d.]+m?s ago; next try in [\d.]+m?s\.$"
        self.assertRegex(self.text("#summary"), ages)
        self.assertEqual(self.figures("finished")["done"], "1")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.stale').length"), 1)
        self.start_exporter(self.port)
        self.until(lambda: self.level() == "good", 35)
        self.assertEqual(self.text("#pulse"), "live")

    def test_segment_goes_and_comes(self):
        """H7: without a segment the server's words are shown; a new one is shown at once."""
        self.open()
        self.taskq("destroy", "--force")
        self.until(lambda: self.text("#verdict") == "The server cannot look")
        self.assertNotEqual(self.text("#troubles"), "")
        self.taskq("submit", "-q", "again", "--delay", "1h", "--", "true")
        self.until(lambda: self.level() == "good", 35)
        self.assertEqual([row["Queue"] for row in self.rows("queues")], ["again"])

    def test_hostile_text(self):
        """H7 H9: a label and a command full of markup are text, wherever they are shown."""
        self.taskq("submit", "-q", "evil", "-L", HOSTILE, "--", "echo", HOSTILE)
        (task,) = self.taskq("list", "-q", "evil", "--json")
        self.open("#/queue/evil")
        self.until(lambda: len(self.rows("tasks")) == 1)
        self.assertEqual(self.rows("tasks")[0]["Label, or command"], HOSTILE)
        self.open(f"#/task/{task['id']}")
        self.until(lambda: self.figures("detail-body").get("label") == HOSTILE)
        self.assertEqual(self.figures("detail-body")["command"], f"echo '{HOSTILE}'")
        self.assertIsNone(self.browser.run("return document.querySelector('img, b')"))
        self.assertIsNone(self.browser.run("return window.hacked"))
        self.assert_quiet()

    def test_asks_nobody_else(self):
        """H7: nothing is loaded but from the server, whose policy forbids the rest."""
        self.open()
        self.until(lambda: self.level() == "good")
        names = self.browser.run("return performance.getEntries().map((entry) => entry.name)")
        asked = [name for name in names if ":" in name]
        self.assertEqual([name for name in asked if not name.startswith(self.url)], [])
        refused = """const script = document.createElement('script');
            script.textContent = 'window.hacked = 1';
            document.body.append(script);
            return window.hacked ??
                fetch('http://127.0.0.2:9/').then(() => 'sent', () => 'refused')"""
        self.assertEqual(self.browser.run(refused), "refused")
        for complaint in self.browser.complaints():
            self.assertIn("Content Security Policy", complaint)

    def test_output(self):
        """fault.L7: a task's output is shown, live while it writes, as text, of each attempt."""
        command = """printf '%s\n' "$0 $TASKQ_ATTEMPT"
            [ $TASKQ_ATTEMPT = 2 ] || exit 1
            until [ -e "$1" ]; do sleep 0.02; done
            echo later"""
        go = f"{SCRATCH}/go"
        self.taskq("submit", "--retries", "1", "--backoff", "10ms", "--", "sh", "-c", command,
                   HOSTILE, go)  # fmt: skip
        (task,) = self.taskq("list", "--json")
        self.open(f"#/task/{task['id']}")
        told = lambda: self.text("#detail .output header span")
        shown = lambda: self.text("#detail .output pre")
        self.until(lambda: told() == "none, as it has not started")
        self.farm("-j1")
        first = f"{HOSTILE} 2\n"
        self.until(lambda: (shown(), told()) == (first, f"{len(first)} bytes, live"), 9)
        with open(go, "w", encoding="ascii"):
            pass
        self.until(lambda: (shown(), told()) == (f"{first}later\n", f"{len(first) + 6} bytes"))
        choose = """const select = document.querySelector('#detail .output select');
            select.value = arguments[0];
            select.dispatchEvent(new Event('change'))"""
        self.browser.run(choose, "1")
        self.until(lambda: shown() == f"{HOSTILE} 1\n")
        self.browser.run(choose, "")
        self.until(lambda: shown() == f"{first}later\n")
        self.assertIsNone(self.browser.run("return document.querySelector('img, b')"))
        self.assertIsNone(self.browser.run("return window.hacked"))
        long, told_then = self.browser.run(
            """live.every = 0;
            const output = detail.content.output;
            for (let piece = 0; piece < 20; piece++)
                output.append('x'.repeat(1 << 16));
            return [output.text.textContent.length, output.summary()];"""
        )
        self.assertLess(long, 1 << 20)
        self.assertIn("the last of it", told_then)
        self.assert_quiet()

    def test_output_that_is_not_there(self):
        """fault.L7: of an output whose beginning is lost, or that is none, it is said so."""
        self.taskq("submit", "-L", "long", "--", "seq", "30000")
        self.taskq("submit", "-L", "none", "--", "true")
        self.taskq("submit", "-L", "file", "-o", f"{SCRATCH}/file", "--", "true")
        self.work_off()
        ids = {task["label"]: task["id"] for task in self.taskq("list", "--json")}
        told = lambda: self.text("#detail .output header span")
        shown = lambda: self.text("#detail .output pre")
        self.open(f"#/task/{ids['long']}")
        self.until(lambda: shown().endswith("\n30000\n"))
        self.assertTrue(shown().startswith("[103k bytes not kept]\n"))
        self.assertEqual(told(), "165K, 103k bytes of it not kept")
        self.open(f"#/task/{ids['none']}")
        self.until(lambda: told() == "none: it has written nothing")
        self.open(f"#/task/{ids['file']}")
        self.until(lambda: f"its output goes to {SCRATCH}/file" in told())

    def test_groups_and_schedules(self):
        """fault.L7: groups with what their members do, schedules with their times."""
        group = self.taskq("group", "new", "--label", HOSTILE).strip()
        for command in ("true", "false", "true"):
            self.taskq("submit", "--group", group, "--", command)
        self.work_off()
        self.taskq("submit", "--group", group, "--", "true")
        every = ("--every", "1h", "--name", "hourly", "-q", "later")
        self.taskq("submit", *every, "--", "echo", HOSTILE)
        self.taskq("submit", "--cron", "0 3 * * *", "-q", "later", "--", "true")
        self.open()
        self.until(lambda: len(self.rows("groups")) == 1 and len(self.rows("schedules")) == 2)
        (row,) = self.rows("groups")
        self.assertEqual((row["Group"], row["Label"]), (group, HOSTILE))
        counts = [row[state] for state in ("Members", "Ready", "Running", "Done", "Failed")]
        self.assertEqual(counts, ["4", "1", "0", "2", "1"])
        known = {each.get("name"): each for each in self.taskq("schedule", "list", "--json")}
        hourly = next(row for row in self.rows("schedules") if row["Schedule"] == "hourly")
        moment = "return new Date(arguments[0]).toLocaleString('sv')"
        self.assertEqual(hourly["Next"], self.browser.run(moment, known["hourly"]["next"]))
        self.assertEqual((hourly["Times"], hourly["Missed"]), ("every 1h00m", "0"))
        self.assertEqual(hourly["Label, or command"], f"echo {HOSTILE}")
        cron = next(row for row in self.rows("schedules") if row["Schedule"] != "hourly")
        self.assertEqual(cron["Next"], self.browser.run(moment, known[None]["next"]))
        self.taskq("schedule", "pause", "hourly")
        paused = lambda: {row["Schedule"]: row["State"] for row in self.rows("schedules")}
        self.until(lambda: paused()["hourly"] == "paused", 9)
        self.assertIsNone(self.browser.run("return document.querySelector('img, b')"))
        self.assert_quiet()

    # Working with it

    def test_sorts_by_keyboard(self):
        """H7: a table is sorted, filtered and opened by keyboard, and says how it is sorted."""
        for queue, tasks in (("a", 1), ("b", 3), ("c", 2)):
            for _ in range(tasks):
                self.taskq("submit", "-q", queue, "--", "true")
        self.open()
        self.until(lambda: len(self.rows("queues")) == 3)
        names = lambda: "".join(row["Queue"] for row in self.rows("queues"))
        ready = "#queues th:nth-child(3)"
        way = f"return document.querySelector('{ready}').getAttribute('aria-sort')"
        self.browser.type(ENTER, f"{ready} button")
        self.assertEqual((names(), self.browser.run(way)), ("bca", "descending"))
        self.browser.type(ENTER)
        self.assertEqual((names(), self.browser.run(way)), ("acb", "ascending"))
        sorted_by = "return document.querySelectorAll('#queues [aria-sort]').length"
        self.assertEqual(self.browser.run(sorted_by), 1)
        self.browser.type("b", "#queues input")
        self.assertEqual(names(), "b")
        self.browser.type(ENTER, "#queues tbody a")
        self.until(lambda: len(self.rows("tasks")) == 3)
        self.browser.type(ESCAPE)
        self.until(lambda: not self.browser.run("return document.querySelector('#detail').open"))
        self.assertEqual(self.browser.run("return location.hash"), "")

    def test_sorts_gaps(self):
        """H7: rows without a value are together, and keep their order."""
        worker = {"name": "", "pid": 1, "flags": [], "queues": "q", "claims": 0, "assigned": 0}
        worker |= {"tasks": 0, "stolen": 0, "registered": "2026-01-01T00:00:00.000Z"}
        tasks = ({"task": "9-1"}, {}, {"task": "10-1"}, {}, {"task": "11-1"}, {})
        self.open()
        self.show_once(workers=[worker | {"worker": i} | task for i, task in enumerate(tasks)])
        self.browser.type(ENTER, "#workers th:nth-child(5) button")
        shown = [(row["Worker"], row["Task"]) for row in self.rows("workers")]
        gaps = [("1", "-"), ("3", "-"), ("5", "-")]
        self.assertEqual(shown, [*gaps, ("2", "10-1"), ("4", "11-1"), ("0", "9-1")])

    def test_tasks_in_pages(self):
        """H7: a queue's row opens its tasks in pages, a task's row why it does not run."""
        lines = "\n".join(json.dumps({"queue": "long", "command": ["true"]}) for _ in range(30))
        with open(f"{SCRATCH}/lines", "w", encoding="ascii") as file:
            file.write(lines)
        self.taskq("submit", "--batch", f"{SCRATCH}/lines")
        ids = [task["id"] for task in self.taskq("list", "-q", "long", "--reverse", "--json")]
        self.open()
        self.until(lambda: len(self.rows("queues")) == 1)
        self.browser.run("document.querySelector('#queues tbody td').click()")
        shown = lambda: [row["Task"] for row in self.rows("tasks")]
        self.until(lambda: shown() == ids[:25])
        button = "document.querySelectorAll('#detail footer button')[arguments[0]].click()"
        self.browser.run(button, 1)
        self.until(lambda: shown() == ids[25:])
        self.browser.run(button, 0)
        self.until(lambda: shown() == ids[:25])
        choose = """const select = document.querySelector('#tasks select');
            select.value = arguments[0];
            select.dispatchEvent(new Event('change'))"""
        self.browser.run(choose, "done")
        self.until(lambda: self.text("#tasks .empty") == "No such task in this queue.")
        self.browser.run(choose, "ready")
        self.until(lambda: shown() == ids[:25])
        self.browser.run("document.querySelector('#tasks tbody td').click()")
        (why,) = self.taskq("why", ids[0], "--json")
        self.until(lambda: self.text("#detail .why") == why["text"])
        self.assertEqual(self.figures("detail-body")["state"], "ready")
        self.assertEqual(self.browser.run("return location.hash"), f"#/task/{ids[0]}")
        self.browser.run("history.back()")
        self.until(lambda: shown() == ids[:25])
        self.assert_quiet()

    def test_tasks_in_pieces(self):
        """H7: few tasks among very many come in pieces, some empty, and make one page."""
        self.taskq("submit", "-q", "rare", "--", "true")
        (task,) = self.taskq("list", "-q", "rare", "--json")
        self.open()
        self.browser.run(
            """const real = window.fetch, pieces = { null: { tasks: [], next: '7' },
                7: { tasks: [arguments[0]], next: '8' }, 8: { tasks: [] } };
            window.fetch = (path, options) => {
                const cursor = new URLSearchParams(path.split('?')[1]).get('cursor');
                return path.startsWith('api/tasks?')
                    ? Promise.resolve(new Response(JSON.stringify(pieces[cursor])))
                    : real(path, options);
            };
            location.hash = '#/queue/rare';""",
            task,
        )
        self.until(lambda: [row["Task"] for row in self.rows("tasks")] == [task["id"]])
        self.assertTrue(self.browser.run("return detail.content.forth.disabled"))

    def test_many(self):
        """H7: 400 queues and 1,000 workers are shown without holding up the reader."""
        self.taskq("submit", "-q", "one", "--delay", "1h", "--", "true")
        self.farm("-j1", "-q", "one")
        self.open()
        self.until(lambda: len(self.rows("workers")) == 2)
        (queue,) = self.browser.run("return live.data.queues")
        worker = self.browser.run("return live.data.workers[1]")
        looks = [
            {
                "queues": [queue | {"queue": f"q{i}", "failed": i * look} for i in range(400)],
                "workers": [worker | {"worker": i, "tasks": i + look} for i in range(1000)],
            }
            for look in range(4)
        ]
        self.show_once(**looks[0])
        rows, spent = self.browser.run(
            """document.querySelectorAll('.more').forEach((button) => button.click());
            const spent = arguments[0].map((look) => {
                const began = performance.now();
                show({ ...live.data, ...look });
                document.body.offsetHeight; // lays it out
                return performance.now() - began;
            });
            return [document.querySelectorAll('tbody tr').length, spent];""",
            looks[1:],
        )
        self.assertEqual(rows, 400 + 1000)
        # Generous: it is for what grows with the square of the rows.
        self.assertLess(min(spent), 5000, "ms")


if __name__ == "__main__":
    if not is_installed():
        print("chromium and chromedriver are missing")
        sys.exit(77)
    unittest.main(verbosity=2)
