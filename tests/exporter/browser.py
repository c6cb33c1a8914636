# SPDX-License-Identifier: MIT
"""A headless Chromium, driven by the WebDriver protocol (docs/decisions/0022)."""
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # by which the protocol marks one
ENTER, ESCAPE = "\ue007", "\ue00c"
# A test that is killed, as by CTest's time limit, ends nothing itself.
WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",  # which does not start as root; the page is ours
    "--disable-dev-shm-usage",  # a test leaves nothing in /dev/shm
    "--remote-debugging-pipe",  # with whose other end it ends, however that dies
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
]


def is_installed():
    return all(shutil.which(program) for program in ("chromium", "chromedriver"))


class Browser:
    """One window; as a context manager, it is ended with all of its processes."""

    def __init__(self, directory):
        self.driver = subprocess.Popen(
            [*WITH_PARENT, "chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"HOME": directory, "TMPDIR": directory},
        )
        self.session = None
        try:
            self.port = self._port()
            self._begin(directory)
        except BaseException:
            self.quit()
            raise

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                return int(found[1])
        raise RuntimeError("chromedriver did not start")

    def _begin(self, directory):
        options = {
            "binary": shutil.which("chromium"),
            "args": ARGUMENTS + [f"--user-data-dir={directory}/profile"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = answer["sessionId"]

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:500]}") from None

    def _do(self, what, body=None):
        return self._call("POST", f"/session/{self.session}/{what}", body or {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.quit()

    def quit(self):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def devtools(self, command, **parameters):
        return self._do("goog/cdp/execute", {"cmd": command, "params": parameters})

    def show(self, width, height, dark=False):
        """As on a screen of this size, on a phone when it is small."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url):
        self._do("url", {"url": url})

    def run(self, script, *arguments):
        """What a JavaScript function with this body returns."""
        return self._do("execute/sync", {"script": script, "args": list(arguments)})

    def type(self, keys, into=None):
        """Into the element of a selector, or the one that has the focus."""
        element = self.run(
            "return arguments[0] ? document.querySelector(arguments[0]) : document.activeElement",
            into,
        )
        self._do(f"element/{element[ELEMENT]}/value", {"text": keys})

    def complaints(self):
        """What the console has been told since the last call, errors and warnings."""
        entries = self._do("se/log", {"type": "browser"})
        return [e["message"] for e in entries if e["level"] in ("SEVERE", "WARNING")]

    def picture(self, form="png"):
        """Of what the window shows, in base64."""
        return self.devtools("Page.captureScreenshot", format=form)["data"]


def eventually(seconds, condition):
    """Until it is true: after so long on an idle machine, on a busy one when it is."""
    end = time.monotonic() + 180 + 6 * seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)
