// The first page: the verdict, the counts, the next steps, and the reliability of the run.

function overviewPage(report) {
  const parts = faultList([...brokenTests(report).map(({name, state, message, again}) => `${name}: ${state}${message ? `: ${message}` : ''}; again: ${again}`), ...report.faults, ...(report.counted || []).flatMap(section => section.faults)]);
  const emulated = isEmulated(report);
  const ofTimes = each => each.what === 'timings of Kernelgrade';
  if (emulated) parts.push(element('h2', {}, 'What holds on a GPU, too'));
  parts.push(cards([...(emulated ? [] : timingCards(report)), ...testCards(report), ...countCards(report), ...studyCards(report)]),
    ...successTable(report, emulated ? report.success.filter(each => !ofTimes(each)) : report.success));
  if (!emulated) parts.push(...speedUps(report));
  parts.push(element('h2', {}, 'What to do'), ...adviceInShort(report));
  if (!report.rows.length) return parts;
  const times = timingParts(report);
  if (!emulated) return [...parts, ...times];
  return [...parts, element('details', {}, element('summary', {}, 'Times of the emulator on this CPU: they test the timing gate and say nothing about a GPU'),
    cards(timingCards(report)), ...successTable(report, report.success.filter(ofTimes)), ...speedUps(report), ...times)];
}

// Whether the times are from the emulator on a CPU.
function isEmulated(report) { return (report.environment.device || 'host') === 'host'; }

function timingParts(report) {
  const parts = [element('h2', {}, 'Categories'), categoryTable(report), gradeBars(gradeGroups(report)),
    element('p', {}, 'Rows of ours by grade: ', gradeCounts(report))];
  const ratios = report.rows.filter(row => row.kind === 'ours' && row.ratio !== undefined).map(row => row.ratio);
  if (ratios.length > 1) parts.push(element('h2', {}, 'Ratios of our rows'), ratioCurve(ratios));
  return [...parts, element('h2', {}, 'Can this run be trusted?'), factTable(report.trust), element('p', {class: 'none'}, report.scale)];
}

// The first few faults; the others on request.
function faultList(faults) {
  const shown = 5;
  const list = part => element('ul', {}, part.map(fault => element('li', {}, fault)));
  return faults.length ? [element('h2', {}, 'Faults'), list(faults.slice(0, shown)), faults.length > shown
    ? element('details', {}, element('summary', {}, `${faults.length - shown} more`), list(faults.slice(shown))) : ''] : [];
}

function cards(entries) {
  return element('dl', {class: 'cards'}, entries.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function timingCards(report) {
  const order = ([verdict]) => kVerdictOrder.indexOf(verdict);
  return Object.entries(report.verdicts || {}).sort((a, b) => order(a) - order(b)).map(([verdict, count]) =>
    [element('a', {href: pageLink('rows', {verdict})}, word(verdict)), String(count)]);
}

function countCards(report) {
  return [['cost', 'costs'], ['resource', 'resources']].flatMap(([table, page]) => {
    const counts = {};
    for (const section of sectionsOf(report, table))
      for (const [verdict, count] of Object.entries(section.verdicts)) counts[verdict] = (counts[verdict] || 0) + count;
    return Object.entries(counts).map(([verdict, count]) => [element('a', {href: pageLink(page, {verdict})}, `${page}: `, word(verdict)), String(count)]);
  });
}

function studyCards(report) {
  return report.studies.map(study => [element('a', {href: studyLink(study)}, `study ${study.name}`), word(studyState(study))]);
}

function brokenTests(report) { return report.tests.filter(test => !['passed', 'skipped'].includes(test.state)); }

// CTest's tests by result; one card per kind of test if all of its tests passed.
function testCards(report) {
  const counts = new Map();
  for (const test of report.tests) {
    const name = test.state === 'passed' || test.state === 'skipped' ? `${test.label} tests: ${test.state}` : `tests ${test.state}`;
    counts.set(name, (counts.get(name) || 0) + 1);
  }
  return [...counts].map(([name, count]) => [name.startsWith('tests ') ? element('span', {class: 'failed'}, name) : name, String(count)]);
}

// Success rates, as in summary.md.
function successTable(report, kinds) {
  const pages = {'timings of Kernelgrade': 'rows', 'correctness tests': 'correctness', mutants: 'mutants', costs: 'costs'};
  const page = what => pages[what] || (what.startsWith('beside ') ? 'compare' : 'resources');
  const failed = count => count ? element('span', {class: 'failed'}, `✗ ${count}`) : '0';
  const lines = kinds.map(each => [element('a', {href: pageLink(page(each.what))}, each.what), String(each.passed), failed(each.failed), String(each.skipped), rateOf(each)]);
  return lines.length ? [plainTable(['of', 'passed', 'failed', 'skipped', 'success rate'], lines, [1, 2, 3, 4])] : [];
}

// Speed-ups of our rows, as in summary.md.
function speedUps(report) {
  const {all, vendor} = report;
  const speed = (over, rows, of, found) => [over, ratioText(found.geomean), ratioText(found.median), ratioText(found.worst), ratioText(found.best), `${rows} of ${of}`];
  const speeds = [...(all.rows ? [speed('the baselines', all.graded, all.rows, all)] : []),
                  ...(vendor.rows ? [speed('the fastest vendor', vendor.rows, vendor.of, vendor)] : [])];
  const reached = vendor.rows ? [element('p', {}, `At least as fast as the fastest vendor: ${vendor.faster} of ${vendor.rows} rows.`)] : [];
  return speeds.length ? [plainTable(['speed-up over', 'mean', 'median', 'min', 'max', 'of our rows'], speeds, [1, 2, 3, 4, 5]),
    ...reached, element('p', {class: 'none'}, 'Speed-up is the other’s time divided by Kernelgrade’s: above 1, Kernelgrade is faster. The mean is geometric. Rows that are wrong, crashed or were not measured have no speed-up.')] : [];
}

// The rate among judged checks, rounded down, so that 100 % means all; see aggregates.cpp.
function rateOf({passed, failed}) {
  return passed + failed ? `${(Math.floor(1000 * passed / (passed + failed)) / 10).toFixed(1)} %` : '-';
}

function categoryTable(report) {
  const lines = Object.entries(report.categories).map(([name, group]) =>
    [name, `${group.graded} of ${group.rows}`, ratioText(group.geomean), word(group.grade)]);
  return plainTable(['category', 'rows with a ratio', 'geometric mean', 'grade'], lines, [1, 2]);
}

// "●●●● excellent 3, ✗ critical 1, n/a 2"
function gradeCounts(report) {
  const groups = gradeGroups(report);
  return kGradeColours.flatMap(([name]) => {
    const count = groups.reduce((sum, group) => sum + (group.counts[name] || 0), 0);
    return [element('span', {class: 'pair'}, word(name === 'none' ? '' : name), ` ${count}`), ' '];
  });
}

function gradeGroups(report) {
  const groups = new Map();
  for (const row of report.rows.filter(each => each.kind === 'ours')) {
    const group = groups.get(row.category) || {name: row.category, counts: {}, total: 0};
    const grade = row.grade || 'none';
    group.counts[grade] = (group.counts[grade] || 0) + 1;
    ++group.total;
    groups.set(row.category, group);
  }
  return [...groups.values()];
}
