// The pages of counted quantities: costs and resources. Rows are sorted worst first.

const kQuantities = ['spill_bytes', 'local_bytes', 'split_loads', 'split_stores', 'registers', 'static_shared', 'dynamic_shared', 'threads', 'occupancy_pct',
  'bytes_in_flight', 'issue_slots', 'calls', 'divisions', 'loop_calls']; // the last five are absent without nvdisasm

const kVerdictColumns = [
  {id: 'ratio', title: 'vs baseline', value: row => row.ratio, cell: row => ratioText(row.ratio), number: true},
  {id: 'verdict', title: 'verdict', value: row => kVerdictOrder.indexOf(row.verdict),
    cell: row => element('span', row.as_blessed ? {title: row.as_blessed} : {}, word(row.verdict), row.informs ? ' (informs)' : '', row.as_blessed ? ` (not ${row.kernel ? 'compiled' : 'counted'})` : '')},
  {id: 'hint', title: 'at, and what helps', value: row => row.site || row.hint, cell: whereAndHint, prose: true},
];
function whereAndHint(row) {
  const parts = [row.site && fileAndLine(row.site), row.verdict === 'invalid' ? row.message : row.hint];
  return parts.filter(Boolean).join(': ') || '-';
}

const kCosts = {title: 'Costs', filters: ['op', 'dtype', 'variant', 'metric', 'verdict'], text: row => `${row.case} ${row.variant} ${row.metric}`, columns: [
  {id: 'case', title: 'case', value: row => row.case, name: true},
  {id: 'variant', title: 'variant', value: row => row.variant},
  {id: 'metric', title: 'metric', value: row => row.metric},
  {id: 'baseline', title: 'baseline', value: row => blessed(row, 'value'), cell: row => countText(blessed(row, 'value')), number: true},
  {id: 'measured', title: 'measured', value: row => row.value, cell: row => countText(row.value), number: true},
  {id: 'minimum', title: 'minimum', value: row => row.minimum || undefined, cell: row => countText(row.minimum || undefined), number: true},
  ...kVerdictColumns,
]};

const kResources = {title: 'Resources', filters: ['op', 'compiled_for', 'verdict'], text: row => row.kernel, columns: [
  {id: 'kernel', title: 'kernel', value: row => row.kernel, name: true},
  {id: 'compiled_for', title: 'compiled for', value: row => row.compiled_for},
  ...kQuantities.map(name => ({id: name, title: name.replaceAll('_', ' '), value: row => row[name], cell: row => changeText(row, name), number: true})),
  ...kVerdictColumns.filter(column => column.id !== 'ratio'), // the changes are more informative
]};

function blessed(row, quantity) { return row.baseline && row.baseline[quantity]; }
function countText(value) { return value === undefined ? '-' : String(value); }
function changeText(row, quantity) {
  const before = blessed(row, quantity);
  if (row[quantity] === undefined) return '-';
  return before === undefined || before === row[quantity] ? String(row[quantity]) : `${before} → ${row[quantity]}`;
}
function fileAndLine(site) { return site.slice(site.lastIndexOf('/') + 1); }

function sectionsOf(report, table) { return (report.counted || []).filter(section => section.table === table); }

// A case is <op>.<dtype>.<shape>.
function costRows(report) {
  return sectionsOf(report, 'cost').flatMap(section => section.rows).map(row => {
    const [op, dtype] = row.case.split('.');
    return {...row, op, dtype};
  });
}
function resourceRows(report) {
  const rows = sectionsOf(report, 'resource').flatMap(section => section.rows.map(row => ({...row, compiled_for: section.name, op: row.kernel.split('.')[0]})));
  return rows.sort((a, b) => urgency(a) - urgency(b)); // each section is already sorted worst first
}
function urgency(row) { return row.exit_code === 1 ? 0 : row.exit_code === 77 ? 1 : row.message ? 2 : 3; }

// The worst case of each operation in which even the best variant exceeds the minimum.
const kLeastWaste = 1.2;
const kWaste = {unique_sectors: 'the bytes from and to memory', sectors_per_request: 'the sectors that its requests need'};
function waste(report) {
  const keep = (map, key, row, better) => { if (!map.has(key) || better(row, map.get(key))) map.set(key, row); };
  const best = new Map(), worst = new Map();
  for (const row of costRows(report).filter(each => kWaste[each.metric] && each.minimum > 0 && each.verdict !== 'invalid'))
    keep(best, `${row.case} ${row.metric}`, {...row, times: row.value / row.minimum}, (a, b) => a.times < b.times);
  for (const row of [...best.values()].filter(each => !isNaive(each))) keep(worst, `${row.op} ${row.metric}`, row, (a, b) => a.times > b.times);
  return [...worst.values()].filter(row => row.times >= kLeastWaste);
}

function countedPage(report, table, spec, rows, notes) {
  const sections = sectionsOf(report, table);
  const [heading, ...rest] = tablePage(spec, rows);
  return [heading, element('p', {}, sections.map(section => element('span', {class: 'line'}, section.line))),
    ...faultList(sections.flatMap(section => section.faults)), element('p', {class: 'none'}, notes), ...rest];
}
function costsPage(report) {
  return countedPage(report, 'cost', kCosts, costRows(report),
    'Counted on the executor, without noise: one event more than blessed fails. Minimum: what the operation itself needs. Rows marked "informs" were counted under another compiler than the baseline, or say how a grid fills the GPU. Rows marked "not counted" show what is blessed: kernels, data, executor, g++ and its flags have not changed since.');
}
function resourcesPage(report) {
  const one = sectionsOf(report, 'resource').length === 1; // the section's name is above the table
  const spec = {...kResources, columns: kResources.columns.filter(column => !one || column.id !== 'compiled_for')};
  return countedPage(report, 'resource', spec, resourceRows(report),
    'What the compiler says of each kernel: bytes per thread, shared memory per block. Split loads and stores are 16 bytes that the kernel moves by several narrower accesses. Registers and threads are informational. Rows marked "not compiled" show the approved figures: their sources, nvcc and its flags have not changed since. How they are launched was counted.');
}
