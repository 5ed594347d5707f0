// Which variant is fastest at which size, and whether `automatic` selects it; see crossovers.h.

function sizeText(size, unit) { return unit === 'bytes' ? bytesText(size) : `${digits(size)} operations`; }
function bytesText(bytes) {
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) if (bytes >= size) return `${digits(bytes / size)} ${unit}`;
  return `${digits(bytes)} B`;
}

function crossoverText(change, unit) {
  const [from, to] = [change.from, change.to].map(size => sizeText(size, unit));
  const place = from === to ? `At ${from}` : `Between ${from} and ${to}`;
  return `${place} the fastest of Kernelgrade’s changes from ${change.before} to ${change.after}` +
    (change.size ? `: at about ${sizeText(change.size, unit)}.` : `; where is not resolved: ${change.reason}.`);
}

function lossText(point) {
  if (point.loss_pct === undefined) return '-';
  return point.loss_pct > 0 ? element('span', {class: 'poor'}, `✗ ${digits(point.loss_pct)} % slower`) : '✓ none';
}

// By operation and type, the case with the largest loss of `automatic`, and the number of cases and modes with a loss.
function wrongChoices(report) {
  const groups = new Map();
  for (const sweep of report.crossovers)
    for (const point of sweep.points.filter(each => 1 + each.loss_pct / 100 >= kWorthwhile)) {
      const key = `${sweep.op}.${sweep.dtype}`;
      groups.set(key, [...(groups.get(key) || []), {sweep, point}]);
    }
  return [...groups.values()].map(group => ({...group.reduce((a, b) => a.point.loss_pct >= b.point.loss_pct ? a : b), count: group.length}));
}

// Time against size, a curve per variant. Vertical lines mark changes of our fastest variant.
function sweepPlot(report, sweep) {
  const size = new Map(sweep.points.map(point => [point.case, point.size]));
  const family = report.rows.filter(each => size.has(each.case) && each.mode === sweep.mode && each.median_ns);
  const sizes = [...size.values()], times = family.map(each => each.median_ns);
  const plot = logPlot('time against size, by variant', {x: [Math.min(...sizes), Math.max(...sizes)], y: [Math.min(...times), Math.max(...times)]},
    sweep.unit === 'bytes' ? 'bytes that the case must move' : 'operations of the case', 'median',
    (value, axis) => axis === 'y' ? timeText(value) : sweep.unit === 'bytes' ? bytesText(value) : digits(value), sweep.unit === 'bytes' ? byteTicks : undefined);
  const entries = [...new Set(family.map(each => each.variant))].map((variant, i) => [variant, kMarks[i % kMarks.length], kLineColours[i % kLineColours.length]]);
  for (const [variant, kind, colour] of entries) {
    const points = family.filter(each => each.variant === variant).sort((a, b) => size.get(a.case) - size.get(b.case));
    plot.svg.append(shape('path', {class: 'line', stroke: colour, d: points.map((each, i) => `${i ? 'L' : 'M'}${plot.x(size.get(each.case))} ${plot.y(each.median_ns)}`).join('')}));
    for (const each of points) plot.svg.append(mark(kind, plot.x(size.get(each.case)), plot.y(each.median_ns), colour, `${rowId(each)}: ${timeText(each.median_ns)}`));
  }
  for (const change of sweep.changes.filter(each => each.size))
    plot.svg.append(shape('path', {class: 'ceiling', 'stroke-dasharray': '4 3', d: `M${plot.x(change.size)} 10V316`}));
  return [plot.svg, legend(entries)];
}

// The sweep that contains the row; undefined if there is none or it has a single size.
function sizeSweep(report, row) {
  const sweep = report.crossovers.find(each => each.op === row.op && each.dtype === row.dtype && each.mode === row.mode && each.points.some(point => point.case === row.case));
  if (!sweep || new Set(sweep.points.map(point => point.size)).size < 2) return undefined;
  const caseLink = point => element('a', {href: pageLink('row', {row: `${point.case} ${point.fastest} ${sweep.mode}`})}, breakable(point.case));
  return [...sweepPlot(report, sweep), ...sweep.changes.map(change => element('p', {}, crossoverText(change, sweep.unit))),
    plainTable(['case', 'size', 'fastest of Kernelgrade’s', 'automatic takes', 'its loss'], sweep.points.map(point =>
      [caseLink(point), sizeText(point.size, sweep.unit), [point.fastest, ...point.as_fast].join(' or '), point.automatic || '-', lossText(point)]), [1])];
}
