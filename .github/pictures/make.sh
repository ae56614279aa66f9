#!/usr/bin/env bash
# Makes the two pictures of README.md from real runs: the report of "make demo" in Chromium, and a step of the tour in tmux.
# Needs Go, make, Chromium, tmux and Python. Run it from anywhere: .github/pictures/make.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$(mktemp -d)
session="rin-picture-$$"
trap 'tmux kill-session -t "$session" 2>/dev/null || true; rm -rf "$work"' EXIT

shoot() { # shoot PAGE PICTURE WIDTH HEIGHT
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --window-size="$3,$4" --screenshot="$2" "file://$1" >/dev/null 2>&1
}

make -s build
(cd "$work" && "$here/../../bin/rin" demo >/dev/null 2>&1)
shoot "$work/rin-report/report.html" "$here/report.png" 960 760

tmux new-session -d -s "$session" -x 80 -y 24 "COLORTERM=truecolor TERM=xterm-256color $here/../../bin/rin tour"
screen() { tmux capture-pane -t "$session" -p "$@"; }
# Enter leads through the tour. The picture is the third step, when its answer has come.
for _ in $(seq 60); do
  screen | grep -q '^3/11' && screen | grep -q 'rules passed' && break
  screen | grep -q '^3/11' && ! screen | grep -q 'ask for a token' || tmux send-keys -t "$session" Enter
  sleep 0.5
done
screen -e > "$work/tour.ansi"
tmux send-keys -t "$session" C-c
python3 "$here/ansi2html.py" < "$work/tour.ansi" > "$work/tour.html"
shoot "$work/tour.html" "$here/tour.png" 760 520
echo "wrote $here/report.png and $here/tour.png"
