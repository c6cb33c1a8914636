#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A terminal's screen, as `tmux capture-pane -p -e` prints it, as an SVG: svg.py TITLE <SCREEN"""
import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL, LINE, TOP, EDGE = 8.4, 18, 34, 12  # px: width and height of a cell, title bar, margin
INK, PAPER = "#d0d6dd", "#14181d"
COLOURS = ["#14181d", "#e5646a", "#7fbf6b", "#d9b25f", "#6aa2e0", "#b98ae0", "#4fb7c5", "#d0d6dd"]


class Style:
    def __init__(self):
        self.ink, self.paper = None, None
        self.bold = self.dim = self.reverse = False

    def take(self, codes):
        """One SGR sequence; 256 and true colours are not used by taskq-top."""
        for code in codes:
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code == 7:
                self.reverse = True
            elif 30 <= code <= 37:
                self.ink = COLOURS[code - 30]
            elif 40 <= code <= 47:
                self.paper = COLOURS[code - 40]
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.paper = None

    def key(self):
        ink, paper = self.ink or INK, self.paper
        if self.reverse:
            ink, paper = paper or PAPER, self.ink or INK
        return ink, paper, self.bold, self.dim


def runs(line, style):
    """Pieces of one style: (column, text, style); it goes on from line to line."""
    column = 0
    for piece in re.split(r"(\x1b\[[0-9;]*m|\x0f|\x0e)", line):
        if piece.startswith("\x1b["):
            style.take([int(code or 0) for code in piece[2:-1].split(";")])
        elif piece and piece not in "\x0e\x0f":
            yield column, piece, style.key()
            column += width(piece)


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def rect(x, y, w, h, fill, opacity=1):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" opacity="{opacity}"/>'


def blocks(column, y, text, ink):
    """Bars are drawn as bars: fonts leave gaps between them."""
    for i, char in enumerate(text):
        x = EDGE + (column + i) * CELL
        if "▁" <= char <= "█":
            high = (ord(char) - ord("▁") + 1) * LINE / 8
            yield rect(x, y + LINE - high, CELL, high, ink)
        elif char == "░":
            yield rect(x, y + 4, CELL, LINE - 8, ink, 0.25)


def words(column, y, text, style):
    ink, _, bold, dim = style
    for match in re.finditer(r"[^ ▁▂▃▄▅▆▇█░]+( [^ ▁▂▃▄▅▆▇█░]+)*", text):
        x = EDGE + (column + width(text[:match.start()])) * CELL
        look = ' font-weight="bold"' if bold else ""
        look += ' opacity="0.6"' if dim else ""
        yield (f'<text x="{x:.1f}" y="{y + LINE - 5}" fill="{ink}"{look} '
               f'textLength="{width(match[0]) * CELL:.1f}" lengthAdjust="spacingAndGlyphs">'
               f"{escape(match[0])}</text>")


def draw(screen, title):
    style = Style()
    lines = [list(runs(line, style)) for line in screen]
    columns = max(sum(width(text) for _, text, _ in line) for line in lines)
    wide, high = columns * CELL + 2 * EDGE, len(lines) * LINE + TOP + EDGE
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" '
           f'viewBox="0 0 {wide:.0f} {high}" font-family="ui-monospace, DejaVu Sans Mono, Menlo, '
           'Consolas, monospace" font-size="14" xml:space="preserve">')
    yield f"<title>{escape(title)}</title>"
    yield f'<rect width="{wide:.0f}" height="{high}" rx="8" fill="{PAPER}"/>'
    for i, colour in enumerate(("#e5646a", "#d9b25f", "#7fbf6b")):
        yield f'<circle cx="{20 + 18 * i}" cy="17" r="5.5" fill="{colour}"/>'
    for i, line in enumerate(lines):
        y = TOP + i * LINE
        for column, text, look in line:
            if look[1]:
                yield rect(EDGE + column * CELL, y, width(text) * CELL, LINE, look[1])
            yield from blocks(column, y, text, look[0])
            yield from words(column, y, text, look)
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(draw(sys.stdin.read().rstrip("\n").split("\n"), sys.argv[1])))
