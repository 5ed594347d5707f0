#!/bin/sh
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# precompile.sh COMMAND...: runs a compiler's command and, where it made a precompiled header, leaves the checksum of all that went into it
# beside it (*.gch.sum). ccache then tells precompiled headers apart by that (CCACHE_PCH_EXTSUM) and not by their bytes, in which the
# folder of the build stands: what one checkout compiled serves another. Without a checksum ccache takes the bytes.
"$@" || exit
made='' list='' before=''
for word; do
  case $before in
    -o) made=$word ;;
    -MF) list=$word ;;
  esac
  before=$word
done
case $made in *.gch) ;; *) exit 0 ;; esac
rm -f "$made.sum"
[ -s "$list" ] || exit 0
sed -e 's/^[^:]*://' -e 's/\\$//' "$list" | tr -s ' ' '\n' | sed '/^$/d' | xargs cat -- >"$made.all" && [ -s "$made.all" ] &&
  sha256sum <"$made.all" >"$made.sum.new" && mv "$made.sum.new" "$made.sum"
rm -f "$made.all" "$made.sum.new"
