// Rows over commits, from the records of `kernelgrade history`.

const kEventSigns = {slower: '✗', faster: '▲', baseline: '○', machine: '~', driver: '~', code: '·'};
const kEventColours = {slower: 'var(--critical)', faster: 'var(--excellent)', baseline: 'var(--link)', machine: 'var(--fair)', driver: 'var(--fair)', code: 'var(--none)'};
const kEventNames = {slower: 'the row', faster: 'the row', baseline: 'its baseline', machine: 'the machine', driver: 'the driver', code: 'its code'};

const kHistory = {title: 'History', filters: ['op', 'dtype', 'variant', 'mode'], text: row => rowId(row), columns: [
  {id: 'case', title: 'case', value: row => row.case, name: true,
    cell: row => element('a', {href: pageLink('history', {row: rowId(row)})}, breakable(row.case))},
  {id: 'variant', title: 'variant', value: row => row.variant},
  {id: 'mode', title: 'mode', value: row => row.mode},
  {id: 'runs', title: 'runs', value: row => row.points.length, number: true},
  {id: 'now', title: 'newest median', value: newestOf, cell: row => timeText(newestOf(row)), number: true},
  {id: 'events', title: 'changes', value: row => row.events.length, number: true},
  {id: 'last', title: 'newest change of level', value: row => levelChange(row)?.at, cell: row => levelChange(row)?.text || '-', prose: true},
]};

function newestOf(row) { return row.points[row.points.length - 1][1]; }
function levelChange(row) { return row.events.filter(({kind}) => kind === 'slower' || kind === 'faster').pop(); }
function historyOf(report, id) { return report.history.rows.find(row => rowId(row) === id); }
function runOf(report, point) { return report.history.runs[point[0]]; }

// About four round values between the two.
function linearTicks(low, high) {
  const rough = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find(each => each * unit >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}

// Medians with their intervals, the baseline's steps, and a numbered line at each event.
function historyChart(report, row) {
  const frame = {left: 78, right: 14, top: 26, bottom: 30, width: 640, height: 320};
  const svg = chart(frame.width, frame.height, `${rowId(row)} over ${row.points.length} runs`);
  const values = row.points.flatMap(([, median, , , baseline]) => baseline ? [median, baseline] : [median]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = 0.1 * (most - least) || 0.05 * most;
  const [y0, y1] = [Math.max(0, least - room), most + room];
  const bottom = frame.height - frame.bottom;
  const x = i => frame.left + i / Math.max(1, row.points.length - 1) * (frame.width - frame.left - frame.right);
  const y = ns => bottom - (Math.min(Math.max(ns, y0), y1) - y0) / (y1 - y0) * (bottom - frame.top); // wide intervals are clipped
  svg.append(shape('path', {class: 'axis', d: `M${frame.left} ${frame.top}V${bottom}H${frame.width - frame.right}`}));
  for (const value of linearTicks(y0, y1)) {
    svg.append(shape('path', {class: 'axis', d: `M${frame.left} ${y(value)}H${frame.width - frame.right}`}));
    svg.append(text(frame.left - 6, y(value) + 4, timeText(value), {'text-anchor': 'end'}));
  }
  const places = row.points.map((_, i) => i);
  const along = (part, order) => order.map(i => `${x(i)} ${y(row.points[i][part])}`).join('L');
  svg.append(shape('path', {fill: 'var(--link)', 'fill-opacity': 0.2, d: `M${along(3, places)}L${along(2, [...places].reverse())}Z`}));
  const steps = places.map(i => row.points[i][4] ? `${i && row.points[i - 1][4] ? `H${x(i)}V` : `M${x(i)} `}${y(row.points[i][4])}` : '').join('');
  svg.append(shape('path', {class: 'line', stroke: 'var(--excellent)', 'stroke-dasharray': '6 3', d: steps || 'M0 0'}));
  svg.append(shape('path', {class: 'line', stroke: 'var(--link)', d: `M${along(1, places)}`}));
  for (const at of new Set(row.events.map(event => event.at))) {
    const numbers = row.events.flatMap((event, i) => event.at === at ? [i + 1] : []);
    const first = row.events[numbers[0] - 1];
    svg.append(shape('path', {class: 'line', stroke: kEventColours[first.kind], 'stroke-dasharray': '2 3', d: `M${x(at)} ${frame.top}V${bottom}`}));
    const range = numbers.length > 1 ? `${numbers[0]}–${numbers[numbers.length - 1]}` : String(numbers[0]);
    svg.append(text(x(at), frame.top - 8, range, {'text-anchor': 'middle'}));
  }
  for (const i of places)
    svg.append(shape('circle', {cx: x(i), cy: y(row.points[i][1]), r: 3, fill: 'var(--link)', 'fill-opacity': places.length > 60 ? 0 : 1},
      shape('title', {}, `${runOf(report, row.points[i]).source.slice(0, 12)}, ${day(runOf(report, row.points[i]))}: ${timeText(row.points[i][1])}`)));
  svg.append(text(frame.left, frame.height - 10, day(runOf(report, row.points[0]))),
    text(frame.width - frame.right, frame.height - 10, day(runOf(report, row.points[row.points.length - 1])), {'text-anchor': 'end'}));
  return svg;
}
function day(run) { return run.date_utc.slice(0, 10); }

function historyParts(report, row) {
  const line = (colour, dashes, name) => element('span', {class: 'pair'},
    shape('svg', {width: 26, height: 10, 'aria-hidden': 'true'}, shape('path', {class: 'line', stroke: colour, ...(dashes ? {'stroke-dasharray': dashes} : {}), d: 'M0 5H26'})), ` ${name}`);
  const parts = [historyChart(report, row), element('p', {}, line('var(--link)', '', 'median with its 99 % interval'), line('var(--excellent)', '6 3', 'baseline'),
    line('var(--fair)', '2 3', 'a numbered change'))];
  if (!row.events.length) return [...parts, element('p', {}, 'Nothing changed for good over these runs.')];
  return [...parts, element('ol', {}, row.events.map(event => element('li', {},
    element('span', {style: `color:${kEventColours[event.kind]}`}, `${kEventSigns[event.kind]} ${kEventNames[event.kind]}`), `: ${event.text}`)))];
}

function historyPage(report) {
  const rows = report.history.rows.map(row => {
    const [op, dtype] = row.case.split('.');
    return {...row, op, dtype};
  });
  const [heading, form, count, ...table] = tablePage(kHistory, rows);
  const chosen = historyOf(report, state().get('row')) || rows[0];
  const left = report.history.left_out
    ? [element('p', {class: 'none'}, `${report.history.left_out} more rows have a history, in which less changed of late; kernelgrade history show and plot have them all.`)] : [];
  return [heading, element('p', {class: 'none'}, 'A change of level lasts: five runs at least, and 2 % at least. Rows whose level changed last come first.'),
    element('h3', {}, rowId(chosen)), ...historyParts(report, chosen), element('h3', {}, 'All rows'), form, count, ...table, ...left];
}
