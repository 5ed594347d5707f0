// Two builds side by side: the comparison of `kernelgrade ab`, and the gate's measurements against the blessed commit.

// With more rows than the sum, only the worst and the best are drawn.
const kWorstDrawn = 20, kBestDrawn = 10;

const kCompared = {title: 'A/B comparison', filters: ['beside', 'op', 'dtype', 'variant', 'mode', 'verdict'], text: row => rowId(row), columns: [
  {id: 'case', title: 'case', value: row => row.case, name: true},
  {id: 'variant', title: 'variant', value: row => row.variant},
  {id: 'mode', title: 'mode', value: row => row.mode},
  {id: 'a', title: 'A', value: row => row.a_ns, cell: row => timeText(row.a_ns), number: true},
  {id: 'b', title: 'B', value: row => row.b_ns, cell: row => timeText(row.b_ns), number: true},
  {id: 'ratio', title: 'A / B', value: row => row.ratio, cell: row => ratioText(row.ratio), number: true},
  {id: 'interval', title: 'interval', value: row => row.ratio_lo, cell: row => row.ratio_lo === undefined ? '-' : `${ratioText(row.ratio_lo)} to ${ratioText(row.ratio_hi)}`, number: true},
  {id: 'finds', title: 'would find', value: row => row.detectable_pct, cell: row => row.detectable_pct === undefined ? '-' : `${row.detectable_pct.toFixed(1)} %`, number: true},
  {id: 'pairs', title: 'pairs', value: row => row.pairs, cell: row => row.pairs === undefined ? '-' : String(row.pairs), number: true},
  {id: 'verdict', title: 'verdict', value: row => kVerdictOrder.indexOf(row.verdict), cell: row => word(row.verdict)},
  {id: 'why', title: 'why', value: row => row.reason, prose: true},
]};

// Failures first, then by ratio; rows without a ratio come last.
function comparedRows(report) {
  const compared = report.comparisons.flatMap(comparison => comparison.rows.map(row => {
    const [op, dtype] = row.case.split('.');
    return {...row, op, dtype, beside: comparison.a.slice(0, 12)};
  }));
  const confirmed = report.rows.filter(row => row.confirmation).map(({case: id, variant, mode, op, dtype, verdict, exit_code, confirmation}) =>
    ({case: id, variant, mode, op, dtype, verdict, exit_code, beside: (confirmation.reference || 'nothing').slice(0, 12), reason: confirmation.unavailable || '', ...confirmation}));
  const failed = row => row.exit_code === 1 ? 0 : 1;
  return [...compared, ...confirmed].sort((a, b) => failed(a) - failed(b) || (a.ratio === undefined) - (b.ratio === undefined) || a.ratio - b.ratio);
}

// One interval per row below the row's name, on a logarithmic axis around 1.
function intervalChart(rows) {
  const [side, width, step, top] = [16, 480, 30, 4];
  const bottom = top + rows.length * step, height = bottom + 34;
  const svg = chart(width, height, 'ratio A / B of each row with its interval');
  const reach = 1.1 * Math.max(0.02, ...rows.flatMap(row => [row.ratio_lo, row.ratio_hi]).map(ratio => Math.abs(Math.log(ratio))));
  const x = ratio => side + (width - 2 * side) * (0.5 + Math.log(ratio) / (2 * reach));
  for (const ratio of [Math.exp(-0.9 * reach), 1, Math.exp(0.9 * reach)]) {
    svg.append(shape('path', {class: ratio === 1 ? 'ceiling' : 'axis', d: `M${x(ratio)} ${top}V${bottom}`}));
    svg.append(text(x(ratio), bottom + 12, ratioText(ratio), {'text-anchor': 'middle'}));
  }
  svg.append(text(side, height - 6, '← B is slower'), text(width - side, height - 6, 'B is faster →', {'text-anchor': 'end'}));
  rows.forEach((row, i) => {
    const y = top + i * step + 22;
    const colour = {regressed: 'var(--critical)', improved: 'var(--excellent)', pass: 'var(--link)'}[row.verdict] || 'var(--none)';
    const kind = {regressed: 'cross', improved: 'triangle', pass: 'circle'}[row.verdict] || 'diamond';
    svg.append(text(0, y - 11, rowId(row)));
    svg.append(shape('path', {class: 'line', stroke: colour, d: `M${x(row.ratio_lo)} ${y}H${x(row.ratio_hi)}`}));
    svg.append(mark(kind, x(row.ratio), y, colour, `${rowId(row)}: ${ratioText(row.ratio)}, ${row.verdict}`));
  });
  return svg;
}

function comparePage(report) {
  const rows = comparedRows(report);
  const [heading, form, count, ...table] = tablePage(kCompared, rows);
  const sides = report.comparisons.map(comparison => element('p', {}, `A: ${comparison.a}; B: ${comparison.b}`));
  const drawn = filtered(kCompared, rows, state()).filter(row => row.ratio_lo > 0);
  const few = drawn.length <= kWorstDrawn + kBestDrawn;
  const chartParts = drawn.length ? [few ? '' : element('p', {}, `The ${kWorstDrawn} worst and the ${kBestDrawn} best:`),
    intervalChart(few ? drawn : [...drawn.slice(0, kWorstDrawn), ...drawn.slice(-kBestDrawn)]), legend([['regressed', 'cross', 'var(--critical)'], ['improved', 'triangle', 'var(--excellent)'],
    ['pass', 'circle', 'var(--link)'], ['undecided', 'diamond', 'var(--none)']])] : [];
  return [heading, ...sides, element('p', {class: 'none'},
    'A is the reference, B the build under test, each in fresh processes, which take turns on a host and run one after another on a GPU. A / B below 1: B is slower. “Would find”: the slow-down that so many pairs find 9 in 10 times.'),
    form, ...chartParts, count, ...table];
}
