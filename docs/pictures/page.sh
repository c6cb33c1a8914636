#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# page.sh BUILD-DIR: takes docs/pictures/page.webp anew, of the page of `taskq exporter` at work.
# By hand, as make.sh.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(cd "$1/bin" && pwd):$PATH
export PATH
. "$here/shop.sh"

open_shop
background taskq exporter --listen 127.0.0.1:8275
"$here/page.py" http://127.0.0.1:8275/ "$here/page.webp" "$scratch"
