#!/bin/sh
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# precompile.sh COMMAND...: runs a compiler command. If the command made a precompiled header, writes a checksum of all its inputs beside it
# (*.gch.sum). ccache then compares that checksum (CCACHE_PCH_EXTSUM) instead of the header's bytes, which contain the build folder's path,
# so one checkout can use another's compilations. Without a checksum ccache compares the bytes.
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
