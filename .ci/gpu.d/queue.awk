# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints the remaining work of a GPU, most valuable first: "<step>\t<visit>\t<unit>\t<seconds>\t<basis>" per line. The basis of the seconds
# is `recorded` on this kind of GPU, or a `guess`. Called by queue.sh with -v source=<commit> and of=<kind of the next file>:
#   record  done.csv of this GPU           tests   "<op> <dtype> <hash of its kernels>"
#   others  done.csv of the other GPUs     worth   operations, most valuable first
#   finished  done.tsv of these results    models, peers, sanitize, modes, first   units
BEGIN { FS = "[,\t]"; kOps = 6; kProcess = 2 }
of == "record" { outcome[$1, $2] = $3; seconds[$1, $2] = $4; commit[$1, $2] = $5; kernels[$1, $2] = $6; next }
of == "others" { if ($4 != "") elsewhere[$1, $2] = $4; next }
of == "finished" { if ($3 != "pending") finished[$1, $2] = 1; next }
of == "tests" { split($0, word, " "); types[word[1]] = types[word[1]] " " word[2]; now[word[1]] = word[3]; next }
of == "worth" { order[++ops] = $1; next }
of == "first" { n = split($0, word, " "); for (i = 2; i <= n; i++) wanted[++wishes] = word[i] "." word[1]; next }
{ listed[of, ++count[of]] = $0 }

# estimate(visit, unit, guess): sets `basis`.
function estimate(visit, unit, guess) {
  basis = "recorded"
  if (seconds[visit, unit] != "") return seconds[visit, unit]
  basis = "guess"
  return (visit, unit) in elsewhere ? elsewhere[visit, unit] : guess
}
function passed(visit, unit) { return outcome[visit, unit] == "passed" }
# fresh(visit, row): true if it passed with the current kernels; a row is <op>.<dtype>.<mode>.
function fresh(visit, row, op) {
  op = row
  sub(/\..*/, "", op)
  return passed(visit, row) && now[op] != "" && kernels[visit, row] == now[op]
}
function emit(step, visit, unit, s) {
  if (!((visit, unit) in finished) && !((visit, unit) in emitted)) printf "%s\t%s\t%s\t%s\t%s\n", step, visit, unit, s, basis
  emitted[visit, unit] = 1
}
# row_unit(step, visit, row, guess, overhead, part): rows of one type and mode share a process, a few operations at a time; an operation
# that hung runs last, in its own process.
function row_unit(step, visit, row, guess, overhead, suffix, word, pass, stage, s) {
  split(row, word, ".")
  pass = word[2] "." word[3] suffix
  stage = visit == "rounds" ? "blessed" : "timed"
  if ((stage, row suffix) in finished) return
  if (outcome["timed", row suffix] == "hung" || outcome["blessed", row suffix] == "hung") {
    hung[++hangs] = row suffix
    return
  }
  if (pass != chunk_pass || visit != chunk_visit || in_chunk == kOps) flush()
  s = estimate(stage, row suffix, guess)
  chunk = chunk (in_chunk++ ? "+" : "") word[1]
  chunk_step = step; chunk_visit = visit; chunk_pass = pass; chunk_suffix = suffix
  chunk_seconds += s + (in_chunk == 1 ? overhead : 0)
  if (basis == "guess") chunk_guess = 1
}
function flush(word) {
  if (in_chunk) {
    split(chunk_pass, word, ".")
    sub(/-all$/, "", word[2])
    basis = chunk_guess ? "guess" : "recorded"
    emit(chunk_step, chunk_visit, word[1] "." word[2] "." chunk chunk_suffix, int(chunk_seconds + 0.5))
  }
  in_chunk = 0; chunk = ""; chunk_seconds = 0; chunk_guess = 0
}
function has(op, dtype) { return index(types[op] " ", " " dtype " ") }
function programs(step, state, i, n, j, type, unit, kind) {
  for (i = 1; i <= ops; i++) {
    n = split(types[order[i]], type, " ")
    for (j = 1; j <= n; j++) {
      unit = order[i] "." type[j]
      kind = !passed("correctness", unit) ? "never" : kernels["correctness", unit] != now[order[i]] || now[order[i]] == "" ? "changed" : "same"
      if (kind == "same" && commit["correctness", unit] == source) continue
      if (kind == state) emit(step, "correctness", unit, estimate("correctness", unit, 30))
    }
  }
}
function units(step, of, guess, i) {
  for (i = 1; i <= count[of]; i++) if (!passed(of, listed[of, i])) emit(step, of, listed[of, i], estimate(of, listed[of, i], listed[of, i] ~ /transformer|layers/ && of == "peers" ? 200 : guess))
}
# Ten processes per row of the pre-merge list, f32 first.
function baselines(i, t, type, row) {
  split("f32 bf16 f16", type, " ")
  for (t = 1; t <= 3; t++) {
    for (i = 1; i <= ops; i++) {
      row = order[i] "." type[t] ".cold"
      if (!has(order[i], type[t]) || fresh("blessed", row)) continue
      row_unit("baselines", "rounds", row, seconds["blessed", order[i] ".f32.cold"] + 0 ? seconds["blessed", order[i] ".f32.cold"] : 3, 10 * kProcess, "")
    }
    flush()
  }
}
END {
  programs("programs", "never")
  programs("programs", "changed")
  for (i = 1; i <= wishes; i++) {
    split(wanted[i], word, ".")
    if (has(word[1], word[2]) && !fresh("timed", wanted[i] "-all")) row_unit("rewritten", "measure", wanted[i], 10, kProcess, "-all")
  }
  flush()
  split("f32 bf16 f16", type, " ")
  for (t = 1; t <= 3; t++) {
    for (i = 1; i <= ops; i++) {
      row = order[i] "." type[t] ".cold"
      if (!passed("timed", row) && !passed("blessed", row)) continue
      if (!fresh("timed", row) && !fresh("blessed", row)) row_unit("rewritten", "measure", row, 3, kProcess, "")
    }
    flush()
  }
  units("models", "models", 10)
  units("models", "scaling", 25)
  units("models", "peers", 60)
  baselines()
  if (count["gate"] && !(passed("gate", "gate") && commit["gate", "gate"] == source)) emit("baselines", "gate", "gate", estimate("gate", "gate", 22))
  units("calibration", "calibrate", 150)
  units("sanitizers", "sanitize", 15)
  for (i = 1; i <= count["modes"]; i++) {
    for (j = 1; j <= ops; j++) {
      row = order[j] "." listed["modes", i]
      split(row, word, ".")
      if (has(word[1], word[2]) && !fresh("timed", row)) row_unit("modes", "measure", row, 3, kProcess, "")
    }
    flush()
  }
  units("rest", "ceilings", 18)
  units("rest", "instructions", 15)
  units("rest", "profile", 10)
  for (i = 1; i <= hangs; i++) {
    split(hung[i], word, ".")
    basis = "guess"
    sub(/-all$/, "", word[3])
    emit("hung", "measure", word[2] "." word[3] "." word[1] "-alone", 130)
  }
  programs("rest", "same")
}
