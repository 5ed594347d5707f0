// The other pages: a single row, and the failures.

function rowPage(report) {
  const id = state().get('row');
  const row = report.rows.find(each => rowId(each) === id);
  if (!row) return [element('h2', {}, 'Row'), element('p', {}, `There is no row "${id}" in this report.`)];
  const facts = [
    ['verdict', word(row.verdict)], ['grade', word(row.grade)], ['why', row.message],
    ['median', row.median_ns ? `${timeText(row.median_ns)}, 99 % interval ${timeText(row.ci_lo_ns)} to ${timeText(row.ci_hi_ns)}` : 'not measured'],
    ['baseline', timeText(row.baseline_ns)],
    ['baseline / measured', row.ratio === undefined ? '-' : `${ratioText(row.ratio)} [${ratioText(row.ratio_lo)}, ${ratioText(row.ratio_hi)}]`],
    ['vendor / ours', ratioText(row.vendor_speedup)], ['rate', rateText(row)],
    ['share of the measured ceiling', row.share_of_roof ? percentText(row.share_of_roof) : '-'],
    ['samples', row.samples ? `${row.samples} in ${row.processes} processes` : '-'],
    ['first call', timeText(row.first_call_ns)], ['of it compiled at run time', timeText(row.jit_ns)], ['set-up', timeText(row.setup_ns)],
    ['device memory', row.peak_bytes ? `${digits(row.peak_bytes / 2 ** 20)} MiB` : '-'], ['machine code and launches', row.identity || 'not known'],
    ['canary', timeText(row.canary_ns)], ['again', element('code', {}, row.reproduce)],
  ].filter(([, value]) => value !== '-');
  const parts = [element('h2', {}, rowId(row)), factTable(facts)];
  if (row.quantiles_ns) parts.push(element('h3', {}, 'Samples'), sampleHistogram(row.quantiles_ns, row.median_ns));
  const beside = report.rows.filter(each => each.case === row.case && each.median_ns);
  if (beside.length > 1) parts.push(element('h3', {}, 'Variants and modes of this case'), besideTable(beside, row));
  const costs = costRows(report).filter(each => each.case === row.case && each.variant === row.variant);
  if (costs.length) parts.push(element('h3', {}, 'What it costs'), plainTable(['metric', 'baseline', 'measured', 'minimum', 'verdict', 'at'],
    costs.map(each => [each.metric, countText(blessed(each, 'value')), countText(each.value), countText(each.minimum || undefined), word(each.verdict),
                       each.site ? fileAndLine(each.site) : '-']), [1, 2, 3]));
  const sweep = sizeSweep(report, row);
  if (sweep) parts.push(element('h3', {}, `Sizes of ${row.op} ${row.dtype} ${row.mode}`), ...sweep);
  const history = historyOf(report, id);
  if (history) parts.push(element('h3', {}, 'Over commits'), ...historyParts(report, history));
  return parts;
}

// All times of the case, the fastest of each mode first.
function besideTable(rows, own) {
  const order = [...rows].sort((a, b) => a.mode < b.mode ? -1 : a.mode > b.mode ? 1 : a.median_ns - b.median_ns);
  const name = row => row === own ? element('strong', {}, row.variant) : element('a', {href: pageLink('row', {row: rowId(row)})}, row.variant);
  return plainTable(['mode', 'variant', 'median', 'time / this one’s', 'grade', 'verdict'], order.map(row =>
    [row.mode, element('span', {}, name(row), row.kind === 'vendor' ? ' (vendor)' : ''), timeText(row.median_ns), own.median_ns ? ratioText(row.median_ns / own.median_ns) : '-',
     word(row.grade), word(row.verdict)]), [2, 3]);
}

function factTable(facts) {
  return element('table', {}, element('tbody', {}, facts.map(([name, value]) =>
    element('tr', {}, element('th', {scope: 'row'}, name), element('td', {class: 'text'}, value)))));
}

function failuresPage(report) {
  const lists = [['Failures', row => row.exit_code === 1], ['Skipped and undecided', row => row.exit_code === 77], ['Passed, with a warning', row => row.exit_code === 0 && row.warning]];
  return lists.flatMap(([title, belongs]) => {
    const rows = [...testRows(report), ...report.rows, ...costRows(report), ...resourceRows(report)].filter(belongs);
    const link = row => row.page ? element('a', {href: row.page}, breakable(row.name))
      : row.kernel ? element('a', {href: pageLink('resources', {q: row.kernel})}, `${row.kernel} (${row.compiled_for})`)
      : row.metric ? element('a', {href: pageLink('costs', {q: kCosts.text(row)})}, kCosts.text(row))
      : element('a', {href: pageLink('row', {row: rowId(row)})}, rowId(row));
    const lines = rows.slice(0, 500).map(row => [link(row), word(row.verdict), row.message]);
    const count = rows.reduce((sum, row) => sum + (row.count || 1), 0);
    return [element('h2', {}, `${title} (${count})`), rows.length ? textTable(['row', 'verdict', 'why, and the command that shows it again'], lines) : element('p', {}, 'None.'),
            rows.length > 500 ? element('p', {}, `${rows.length - 500} more: see the rows.`) : undefined].filter(Boolean);
  });
}
// Failed and skipped correctness tests, surviving mutants, rows slower than another build's, and failures of studies.
function testRows(report) {
  const planned = brokenTests(report).map(({name, state, message, again}) => ({page: pageLink('overview'), name, verdict: state, exit_code: 1, message: `${message}\nagain: ${again}`}));
  const failed = report.correctness.flatMap(run => run.failed.map(({test, message}) =>
    ({page: pageLink('correctness', {op: run.op, dtype: run.dtype}), name: test, verdict: 'failed', exit_code: 1, message: `${message}\nagain: ${run.again}`})));
  const skipped = skips(report.correctness).map(({message, tests}) =>
    ({page: pageLink('correctness'), name: tests.length > 1 ? `${tests.length} tests` : tests[0], verdict: 'skipped', exit_code: 77, count: tests.length, message}));
  const survivors = mutantRows(report).filter(mutant => !mutant.killed).map(mutant =>
    ({page: pageLink('mutants', {op: mutant.op, end: 'survived'}), name: `${mutant.op} ${mutant.mutant}`, verdict: 'survived', exit_code: 1,
      message: `${mutant.place}: ${mutant.why}; again: ${mutant.again}`}));
  const slower = report.comparisons.flatMap(comparison => comparison.rows.map(row =>
    ({page: pageLink('compare', {q: rowId(row)}), name: `${rowId(row)}, beside ${comparison.a.slice(0, 12)}`, verdict: row.verdict, exit_code: row.exit_code, message: row.reason})));
  const studies = report.studies.flatMap(study => study.remarks.map(remark =>
    ({page: studyLink(study), name: `study ${study.name}: ${remark.name}`, verdict: remark.verdict, exit_code: remark.verdict === 'skipped' ? 77 : 1, message: remark.message})));
  return [...planned, ...failed, ...skipped, ...survivors, ...slower, ...studies];
}
function textTable(header, lines) {
  const table = plainTable(header, lines);
  table.firstChild.className = 'texts';
  for (const line of table.querySelectorAll('tbody tr')) line.lastElementChild.className = 'text';
  return table;
}
