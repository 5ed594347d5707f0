#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Pictures of every page of a report, for people to look at: on a desk, in the dark, and on a phone.
#   tests/unit/perf/report/screenshots.sh REPORT.html [FOLDER]     default folder: build/screenshots
# Writes FOLDER/<page>-<look>.png, each as high as its page, but no higher than $most pixels.
set -euo pipefail
(($# == 1 || $# == 2)) || { printf 'usage: tests/unit/perf/report/screenshots.sh REPORT.html [FOLDER]\n' >&2; exit 2; }
report=$(realpath "$1")
folder=${2:-build/screenshots}
most=4000
looks=('desk 1280' 'dark 1280 --blink-settings=preferredColorScheme=0' 'phone 390')

for browser in chromium chromium-browser google-chrome; do
  if command -v $browser >/dev/null; then break; fi
done
command -v "$browser" >/dev/null || { echo 'no Chromium is on PATH; apt install chromium'; exit 77; }
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A copy whose title is the height of what it shows at the width that stands behind '?': without a picture to take Chromium's window
# is never narrower than 500 pixels.
{
  cat "$report"
  printf '<script>document.body.style.width = location.search.slice(1) + "px"; document.title = document.body.offsetHeight + 20;'
  printf ' document.body.style.width = "";</script>\n'
} >"$work/report.html"

# browse WIDTH HEIGHT VIEW OPTION...
browse() {
  local size=$1,$2 view=$3
  shift 3
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --window-size="$size" \
    "$@" "file://$work/report.html?${size%,*}#$view" 2>/dev/null
}

# shoot NAME VIEW: in every look.
shoot() {
  local name width options height
  for look in "${looks[@]}"; do
    read -r name width options <<<"$look"
    height=$(browse "$width" 100 "$2" --dump-dom | sed -n 's/.*<title>\([0-9]*\)<.*/\1/p')
    # shellcheck disable=SC2086 # one option, or none
    browse "$width" $((height < most ? height : most)) "$2" --screenshot="$folder/$1-$name.png" $options
    echo "$folder/$1-$name.png"
  done
}

pages=$(browse 1280 800 '' --dump-dom | grep -o 'href="#page=[a-z]*"' | sed 's/.*page=//; s/"//' | awk '!seen[$0]++')
[[ -n $pages ]] || { echo "$report shows no pages"; exit 1; }
for page in $pages; do shoot "$page" "page=$page"; done
row=$(browse 1280 800 page=rows --dump-dom | grep -o 'href="#page=row&amp;row=[^"]*"' | sed -n '1{ s/href="#//; s/"$//; s/&amp;/\&/gp }')
[[ -z $row ]] || shoot row "$row"
