// Suggests the next steps: failures first, the worst at the top; then possible speed-ups, the largest first.

const kWorthwhile = 1.1; // a smaller gain is not worth the work
const kAdviceOnOverview = 5;

// An entry: its subject and page, the possible speed-up (gain), words, and a command.
function aboutRow(row, words, gain) { return {id: rowId(row), link: pageLink('row', {row: rowId(row)}), gain, words, command: row.reproduce}; }
function downBy(value) { return (a, b) => value(b) - value(a); }

// Wrong results first, then gaps in the tests, then slow-downs.
function toFix(report) {
  const ours = report.rows.filter(row => row.kind === 'ours');
  const tests = report.correctness.filter(run => run.failed.length).map(run => ({id: `${run.op}.${run.dtype}`, link: pageLink('correctness', {op: run.op, dtype: run.dtype}),
    words: `: ${run.failed.length} of ${testCount(run)} correctness tests fail: fix it before looking at its times`}));
  const wrong = ours.filter(row => row.verdict === 'invalid').map(row => aboutRow(row, ' gave a wrong or no result: fix it first'));
  const survivors = mutantRows(report).filter(each => !each.killed).map(mutant => ({id: `${mutant.op} ${mutant.mutant}`, link: pageLink('mutants', {op: mutant.op, end: 'survived'}),
    words: `: no test finds this bug (${mutant.why}): add one that does`}));
  const counted = [...firstOf(costRows(report), row => `${row.op} ${row.variant} ${row.metric}`), ...firstOf(resourceRows(report), row => row.kernel)].map(aboutCount);
  const slower = ours.filter(row => row.verdict === 'regressed').sort(downBy(row => 1 / row.ratio)).map(row =>
    aboutRow(row, ` is ${digits(1 / row.ratio)} times as slow as its baseline: undo the change, or bless it with a reason`));
  const studies = report.studies.filter(study => study.exit_code === 1).map(study => ({id: `study ${study.name}`, link: studyLink(study), words: study.line.replace(/^[^:]*/, '')}));
  return [...wrong, ...tests, ...survivors, ...counted, ...slower, ...studies];
}

// Merges failed counts with the same key, which have one cause: keeps the first, the worst, with their number.
function firstOf(rows, key) {
  const groups = new Map();
  for (const row of rows.filter(each => each.exit_code === 1)) groups.set(key(row), [...(groups.get(key(row)) || []), row]);
  return [...groups.values()].map(group => ({...group[0], count: group.length}));
}
function aboutCount(row) {
  const id = row.kernel || kCosts.text(row);
  const message = row.message.startsWith(`${id}: `) ? row.message.slice(id.length + 2) : row.message;
  return {id: row.kernel ? `${id} (${row.compiled_for})` : id, link: pageLink(row.kernel ? 'resources' : 'costs', {q: id}),
          words: `${row.count > 1 ? ` (and ${row.count - 1} more like it)` : ''}: ${message}`};
}

// Other variants are compared with the naive ones, which need not become faster.
function isNaive(row) { return row.variant.startsWith('naive'); }

// The fastest of our rows of each case and mode, by operation and type: a variant that is slow by design needs no advice.
function fastestOfOurs(report) {
  const fastest = new Map();
  for (const row of report.rows.filter(each => each.kind === 'ours' && each.median_ns)) {
    const key = `${row.case} ${row.mode}`;
    if (!fastest.has(key) || row.median_ns < fastest.get(key).median_ns) fastest.set(key, row);
  }
  return [...fastest.values()].filter(row => !isNaive(row));
}

// By operation and type, the row with the largest gain, and the number of cases and modes with a gain.
function greatestOfEach(rows, gain) {
  const groups = new Map();
  for (const row of rows.filter(each => gain(each) >= kWorthwhile)) {
    const key = `${row.op}.${row.dtype}`;
    groups.set(key, [...(groups.get(key) || []), row]);
  }
  return [...groups.values()].map(group => ({row: group.reduce((a, b) => gain(a) >= gain(b) ? a : b), count: group.length}));
}
function elsewhere(count) { return count > 1 ? `; so it is, by less, in ${count - 1} more of its cases and modes` : ''; }

// A vendor's time shows what is possible. Rows without a faster vendor are compared with the roof, at the largest size. Only cold rows are
// compared with the memory roof (judge/roof.h).
function toSpeedUp(report) {
  const best = isEmulated(report) ? [] : fastestOfOurs(report); // CPU times do not predict GPU times
  const beside = greatestOfEach(best, row => row.vendor_speedup ? 1 / row.vendor_speedup : 0);
  const named = new Set(beside.map(({row}) => `${row.op}.${row.dtype}`));
  const largest = new Map();
  for (const row of best.filter(each => each.mode === 'cold' && each.share_of_roof && !named.has(`${each.op}.${each.dtype}`))) {
    const key = `${row.op}.${row.dtype}`;
    if (!largest.has(key) || row.bytes + row.flops > largest.get(key).bytes + largest.get(key).flops) largest.set(key, row);
  }
  const below = greatestOfEach([...largest.values()], row => 1 / row.share_of_roof);
  return [
    ...beside.map(({row, count}) => aboutRow(row,
      ` is our fastest and takes ${timeText(row.median_ns)}, the vendor ${timeText(row.median_ns * row.vendor_speedup)}${elsewhere(count)}`, 1 / row.vendor_speedup)),
    ...below.map(({row}) => aboutRow(row,
      ` reaches ${percentText(row.share_of_roof)} of what this device was seen to do, at the largest size; its costs may say what holds it up`, 1 / row.share_of_roof)),
    ...wrongChoices(report).map(({sweep, point, count}) => ({id: `${point.case} ${sweep.mode}`, link: pageLink('row', {row: `${point.case} ${point.fastest} ${sweep.mode}`}), gain: 1 + point.loss_pct / 100,
      words: `: automatic takes ${point.automatic}, which is ${digits(point.loss_pct)} % slower than ${point.fastest}${elsewhere(count)}`})),
    ...waste(report).map(aboutWaste),
  ].sort(downBy(entry => entry.gain));
}
function aboutWaste(row) {
  const cause = `${row.site ? `, most of it at ${fileAndLine(row.site)}` : ''}${row.hint ? `: ${row.hint}` : ''}`;
  return {id: `${row.case} ${row.variant}`, link: pageLink('costs', {q: kCosts.text(row)}), gain: row.times, where: 'where memory bounds it',
          words: `: ${digits(row.times)} times ${kWaste[row.metric]}${cause}`};
}

// An improvement that was not blessed can be lost unnoticed, and a row that was never blessed is not gated.
function toBless(report) {
  const ours = isEmulated(report) ? [] : report.rows.filter(row => row.kind === 'ours');
  const entries = ours.filter(row => row.verdict === 'improved').sort(downBy(row => row.ratio)).map(row =>
    ({...aboutRow(row, ` is ${digits(row.ratio)} times as fast as its baseline: bless it, or the gain can be lost again unseen`),
      command: `${row.reproduce.replace('kernelgrade gate', 'kernelgrade bless')} --why "..."`}));
  const unblessed = ours.filter(row => row.verdict === 'unblessed').length;
  if (unblessed)
    entries.push({id: `${unblessed} rows`, link: pageLink('rows', {verdict: 'unblessed'}), words: ' have no baseline, so that nothing watches them',
                  command: 'kernelgrade bless --why "first baseline"'});
  return entries;
}

function adviceItem({id, link, gain, words, where, command}) {
  const faster = gain ? element('strong', {}, `up to ${digits(Number(gain.toPrecision(3)))} times as fast${where ? ` ${where}` : ''}: `) : '';
  return element('li', {}, faster, element('a', {href: link}, breakable(id)), `${words}. `, command ? element('code', {}, command) : '');
}

function adviceGroups(report) {
  return [['Fix first', toFix(report)], ['Make faster', toSpeedUp(report)], ['Keep what was won', toBless(report)]].filter(([, entries]) => entries.length);
}
function nothingToDo() { return element('p', {}, 'Nothing: no row fails, and none is slower than it should be.'); }

// The first entry of each group.
function adviceInShort(report) {
  const groups = adviceGroups(report);
  if (!groups.length) return [nothingToDo()];
  const parts = groups.flatMap(([title, entries]) => [element('h3', {}, title),
    element('ol', {class: 'advice'}, entries.slice(0, kAdviceOnOverview).map(adviceItem))]);
  const left = groups.reduce((sum, [, entries]) => sum + Math.max(0, entries.length - kAdviceOnOverview), 0);
  return left ? [...parts, element('p', {}, element('a', {href: pageLink('advice')}, `${left} more recommendations`))] : parts;
}

function advicePage(report) {
  const groups = adviceGroups(report);
  const note = element('p', {class: 'none'}, 'Failures first, the worst of them first; then by what there is to gain: how many times as fast a call could be, if it reached what the vendor, ' +
    'this device’s measured ceiling, or the least number of bytes allows. Of each operation and type the case with the most to gain.');
  const most = 200;
  const lists = groups.flatMap(([title, entries]) => [element('h3', {}, `${title} (${entries.length})`),
    element('ol', {class: 'advice'}, entries.slice(0, most).map(adviceItem)),
    entries.length > most ? element('p', {}, `${entries.length - most} more: see the rows.`) : ''].filter(Boolean));
  return [element('h2', {}, 'Recommendations'), note, ...(groups.length ? lists : [nothingToDo()])];
}
