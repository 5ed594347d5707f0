// The pages of what is counted and not timed: costs and resources. Rows come worst first.

const kQuantities = ['spill_bytes', 'local_bytes', 'registers', 'static_shared', 'dynamic_shared', 'threads', 'occupancy_pct'];

const kVerdictColumns = [
  {id: 'ratio', title: 'vs baseline', value: row => row.ratio, cell: row => ratioText(row.ratio), number: true, wide: true},
  {id: 'verdict', title: 'verdict', value: row => kVerdictOrder.indexOf(row.verdict),
    cell: row => element('span', {}, word(row.verdict), row.informs ? ' (informs)' : '')},
  {id: 'site', title: 'at', value: row => row.site, cell: row => row.site ? fileAndLine(row.site) : '-'},
  {id: 'hint', title: 'hint', value: row => row.hint, cell: row => row.verdict === 'invalid' ? row.message : row.hint || '', prose: true},
];

const kCosts = {title: 'Costs', filters: ['op', 'dtype', 'variant', 'metric', 'verdict'], text: row => `${row.case} ${row.variant} ${row.metric}`, columns: [
  {id: 'op', title: 'op', value: row => row.op},
  {id: 'dtype', title: 'dtype', value: row => row.dtype},
  {id: 'shape', title: 'shape', value: row => row.shape},
  {id: 'variant', title: 'variant', value: row => row.variant},
  {id: 'metric', title: 'metric', value: row => row.metric},
  {id: 'baseline', title: 'baseline', value: row => blessed(row, 'value'), cell: row => countText(blessed(row, 'value')), number: true},
  {id: 'measured', title: 'measured', value: row => row.value, cell: row => countText(row.value), number: true},
  {id: 'minimum', title: 'minimum', value: row => row.minimum || undefined, cell: row => countText(row.minimum || undefined), number: true, wide: true},
  ...kVerdictColumns,
]};

const kResources = {title: 'Resources', filters: ['op', 'compiled_for', 'verdict'], text: row => row.kernel, columns: [
  {id: 'op', title: 'op', value: row => row.op},
  {id: 'kernel', title: 'kernel', value: row => row.kernel, cell: row => row.kernel.slice(row.op.length + 1)},
  {id: 'compiled_for', title: 'compiled for', value: row => row.compiled_for},
  ...kQuantities.map(name => ({id: name, title: name.replace('_', ' '), value: row => row[name], cell: row => changeText(row, name), number: true})),
  ...kVerdictColumns,
]};

function blessed(row, quantity) { return row.baseline && row.baseline[quantity]; }
function countText(value) { return value === undefined ? '-' : String(value); }
function changeText(row, quantity) {
  const before = blessed(row, quantity);
  return before === undefined || before === row[quantity] ? String(row[quantity]) : `${before} → ${row[quantity]}`;
}
function fileAndLine(site) { return site.slice(site.lastIndexOf('/') + 1); }

function sectionsOf(report, table) { return (report.counted || []).filter(section => section.table === table); }

// A case is <op>.<dtype>.<shape>.
function costRows(report) {
  return sectionsOf(report, 'cost').flatMap(section => section.rows).map(row => {
    const [op, dtype, ...shape] = row.case.split('.');
    return {...row, op, dtype, shape: shape.join('.')};
  });
}
function resourceRows(report) {
  const rows = sectionsOf(report, 'resource').flatMap(section => section.rows.map(row => ({...row, compiled_for: section.name, op: row.kernel.split('.')[0]})));
  return rows.sort((a, b) => urgency(a) - urgency(b)); // of several sections each has its worst first
}
function urgency(row) { return row.exit_code === 1 ? 0 : row.exit_code === 77 ? 1 : row.message ? 2 : 3; }

function countedPage(report, table, spec, rows, notes) {
  const sections = sectionsOf(report, table);
  const [heading, ...rest] = tablePage(spec, rows);
  return [heading, element('p', {}, sections.map(section => element('span', {class: 'line'}, section.line))),
    ...faultList(sections.flatMap(section => section.faults)), element('p', {class: 'none'}, notes), ...rest];
}
function costsPage(report) {
  return countedPage(report, 'cost', kCosts, costRows(report),
    'Counted on the executor, without noise: one event more than blessed fails. Minimum: what the operation itself needs. Rows marked "informs" were counted under another compiler than the baseline.');
}
function resourcesPage(report) {
  return countedPage(report, 'resource', kResources, resourceRows(report),
    'What the compiler says of each kernel: bytes per thread, shared memory per block. Registers and threads alone inform.');
}
