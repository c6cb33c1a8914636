#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `taskq exporter` as a picture: page.py URL FILE SCRATCH-DIRECTORY"""
import base64
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "exporter"))
from browser import Browser, eventually  # pylint: disable=wrong-import-position

url, path, scratch = sys.argv[1:]
with Browser(scratch) as browser:
    browser.show(1280, 760, dark=True)
    browser.open(url)
    # The graphs are worth a picture once they have some history.
    if not eventually(15, lambda: browser.run("return graphs[0].points.length > 70")):
        sys.exit("the page shows no history")
    pathlib.Path(path).write_bytes(base64.b64decode(browser.picture("webp")))
