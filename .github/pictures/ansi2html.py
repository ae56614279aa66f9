"""Turns the colours of a terminal (SGR sequences, ECMA-48 section 8.3.117) on stdin into an HTML page on stdout."""
import html
import re
import sys

BASIC = ["#15161e", "#f7768e", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#c0caf5"]


def indexed(n):
    if n < 16:
        return BASIC[n % 8]
    if n >= 232:
        return "rgb({0},{0},{0})".format(8 + 10 * (n - 232))
    levels = [0, 95, 135, 175, 215, 255]
    n -= 16
    return "rgb({},{},{})".format(levels[n // 36], levels[n // 6 % 6], levels[n % 6])


def apply(style, codes):
    codes = iter(codes)
    for c in codes:
        if c == 0:
            style.clear()
        elif c == 1:
            style["font-weight"] = "bold"
        elif c == 2:
            style["opacity"] = "0.6"
        elif c == 3:
            style["font-style"] = "italic"
        elif c == 4:
            style["text-decoration"] = "underline"
        elif c == 7:
            style["color"], style["background"] = "#1a1b26", "#c0caf5"
        elif c in (22, 39, 49):
            for key in {22: ["font-weight", "opacity"], 39: ["color"], 49: ["background"]}[c]:
                style.pop(key, None)
        elif 30 <= c <= 37 or 90 <= c <= 97:
            style["color"] = BASIC[c % 10]
        elif 40 <= c <= 47:
            style["background"] = BASIC[c % 10]
        elif c in (38, 48):
            key = "color" if c == 38 else "background"
            if next(codes) == 5:
                style[key] = indexed(next(codes))
            else:
                style[key] = "rgb({},{},{})".format(next(codes), next(codes), next(codes))


style, out = {}, []
for text, sequence in re.findall(r"([^\x1b]+)|\x1b\[([0-9;:]*)m", sys.stdin.read()):
    if text:
        css = ";".join(f"{k}:{v}" for k, v in style.items())
        out.append(f'<span style="{css}">{html.escape(text)}</span>')
    else:
        apply(style, [int(c or 0) for c in re.split("[;:]", sequence)])
print('<!doctype html><meta charset="utf-8"><style>body{margin:0;padding:20px;background:#1a1b26;color:#c0caf5}'
      'pre{font:14px/1.35 "DejaVu Sans Mono",monospace}</style><pre>' + "".join(out) + "</pre>")
