// The results of the correctness tests, and which mutants they killed.

const kEvidenceKinds = ['exact', 'oracle', 'vendor', 'hygiene', 'special', 'empty', 'repeats'];
const kEvidenceOrder = ['missing', 'shown'];

const kEvidence = {title: 'Evidence', filters: ['op', 'dtype', 'variant'], text: row => `${row.op}.${row.dtype} ${row.variant}`, columns: [
  {id: 'op', title: 'op', value: row => row.op},
  {id: 'dtype', title: 'dtype', value: row => row.dtype},
  {id: 'variant', title: 'variant', value: row => row.variant},
  ...kEvidenceKinds.map(kind => ({id: kind, title: kind, value: row => row[kind] && kEvidenceOrder.indexOf(row[kind]),
    cell: row => row[kind] ? word(row[kind]) : element('span', {class: 'none'}, '·')})),
]};

const kMutants = {title: 'Mutants', filters: ['op', 'end', 'check'], text: row => `${row.op} ${row.mutant}`, columns: [
  {id: 'op', title: 'op', value: row => row.op},
  {id: 'mutant', title: 'mutant', value: row => row.mutant, name: true},
  {id: 'end', title: 'end', value: row => row.end, cell: row => word(row.end)},
  {id: 'check', title: 'by the check', value: row => row.check,
    cell: row => row.killed && row.check !== row.expected ? `${row.check} (expected ${row.expected})` : row.check},
  {id: 'why', title: 'what is wrong with it', value: row => row.why, prose: true},
  {id: 'test', title: 'test', value: row => row.test, cell: row => row.test ? breakable(row.test) : '-', name: true},
  {id: 'place', title: 'at', value: row => row.place, name: true},
]};

function runState(run) { return run.failed.length ? 'failed' : run.passed ? 'passed' : 'skipped'; }
function testCount(run) { return run.passed + run.failed.length + run.skipped.length; }

function evidenceRows(report) {
  const stateOf = kinds => Object.fromEntries(Object.entries(kinds).map(([kind, shown]) => [kind, shown ? 'shown' : 'missing']));
  return report.correctness.flatMap(run => Object.entries(run.evidence).map(([variant, kinds]) =>
    ({op: run.op, dtype: run.dtype, variant, ...stateOf(kinds)})));
}

// Surviving mutants first.
function mutantRows(report) {
  const rows = report.mutants.flatMap(matrix => matrix.mutants.map(mutant => ({...mutant, op: matrix.op, end: mutant.killed ? 'killed' : 'survived'})));
  return rows.sort((a, b) => a.killed - b.killed);
}

// Operations as rows, types as columns.
function correctnessGrid(runs) {
  const types = [...new Set(runs.map(run => run.dtype))];
  const ops = [...new Set(runs.map(run => run.op))].sort();
  const cell = (op, dtype) => {
    const run = runs.find(each => each.op === op && each.dtype === dtype);
    if (!run) return element('span', {class: 'none'}, '·');
    const count = run.failed.length ? ` ${run.failed.length} of ${testCount(run)}` : ` ${testCount(run)}`;
    return element('a', {href: pageLink('correctness', {op, dtype})}, word(runState(run)), count);
  };
  return plainTable(['operation', ...types], ops.map(op => [op, ...types.map(dtype => cell(op, dtype))]));
}

// The failed tests of all runs, each with its command.
function failedTests(runs) {
  const failed = runs.flatMap(run => run.failed.map(remark => ({...remark, again: run.again})));
  if (!failed.length) return [];
  const says = remark => element('div', {}, element('pre', {}, remark.message), element('code', {}, remark.again));
  return [element('h3', {}, `Failed tests (${failed.length})`), textTable(['test', 'what it says'], failed.map(remark => [breakable(remark.test), says(remark)]))];
}

// The skipped tests of all runs by reason: [{message, tests}], the most frequent first.
function skips(runs) {
  const reasons = new Map();
  for (const {test, message} of runs.flatMap(run => run.skipped)) reasons.set(message, [...(reasons.get(message) || []), test]);
  return [...reasons].map(([message, tests]) => ({message, tests})).sort((a, b) => b.tests.length - a.tests.length);
}
function testNames(tests) {
  if (tests.length === 1) return element('span', {}, breakable(tests[0]));
  return element('details', {}, element('summary', {}, `${tests.length} tests`), element('ul', {}, tests.map(test => element('li', {}, breakable(test)))));
}
function skippedTests(runs) {
  const found = skips(runs);
  if (!found.length) return [];
  const count = found.reduce((sum, {tests}) => sum + tests.length, 0);
  return [element('h3', {}, `Skipped tests (${count})`), textTable(['tests', 'why'], found.map(({message, tests}) => [testNames(tests), message]))];
}

function correctnessPage(report) {
  const view = state();
  const runs = report.correctness.filter(run => ['op', 'dtype'].every(key => !view.get(key) || run[key] === view.get(key)));
  const [, form, count, ...table] = tablePage(kEvidence, evidenceRows(report));
  return [element('h2', {}, 'Correctness'),
    element('p', {class: 'none'}, 'Tests by operation and type. Each compares with a reference in 64 bits, with exact results, and with a vendor’s library.'),
    correctnessGrid(report.correctness),
    ...failedTests(runs), ...skippedTests(runs),
    element('h2', {}, 'Evidence'), element('p', {class: 'none'}, 'What the tests demand of each variant, and whether one showed it.'), form, count, ...table];
}

// Killed mutants by operation and check.
function killCounts(matrices) {
  const checks = [...new Set(matrices.flatMap(matrix => matrix.mutants.filter(mutant => mutant.killed).map(mutant => mutant.check)))].sort();
  const lines = matrices.map(matrix => {
    const by = check => matrix.mutants.filter(mutant => mutant.killed && mutant.check === check).length;
    const name = element('a', {href: pageLink('mutants', {op: matrix.op})}, matrix.op);
    const end = matrix.killed === matrix.mutants.length ? 'killed' : 'survived';
    return [name, element('span', {class: end}, `${kSigns[end]} ${matrix.killed} of ${matrix.mutants.length}`), ...checks.map(check => by(check) || '')];
  });
  const table = plainTable(['operation', 'killed', ...checks], lines, checks.map((check, i) => i + 2));
  table.firstChild.className = 'dense';
  return table;
}

function mutantsPage(report) {
  const [heading, form, count, ...table] = tablePage(kMutants, mutantRows(report));
  return [heading, element('p', {class: 'none'}, 'Bugs put into copies of the kernels, one at a time; a bug that no check finds is a gap in the tests.'),
    killCounts(report.mutants), form, count, ...table];
}
