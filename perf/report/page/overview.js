// The first page: one verdict, the counts, how far the run can be trusted, and what to do next.

function overviewPage(report) {
  const parts = [cards(report)];
  parts.push(...faultList([...report.faults, ...(report.counted || []).flatMap(section => section.faults)]));
  parts.push(element('h2', {}, 'What to do'), advice(report));
  parts.push(element('h2', {}, 'Categories'), categoryTable(report), gradeBars(gradeGroups(report)),
    element('p', {}, 'Rows of ours by grade: ', [...kGradeColours].flatMap(([name]) => [word(name === 'none' ? '' : name), ' '])));
  const ratios = report.rows.filter(row => row.kind === 'ours' && row.ratio !== undefined).map(row => row.ratio);
  if (ratios.length > 1) parts.push(element('h2', {}, 'Ratios of our rows'), ratioCurve(ratios));
  parts.push(element('h2', {}, 'Can this run be trusted?'), trust(report), element('p', {class: 'none'}, report.scale));
  return parts;
}

function faultList(faults) {
  return faults.length ? [element('h2', {}, 'Faults'), element('ul', {}, faults.map(fault => element('li', {}, fault)))] : [];
}

function cards(report) {
  const all = report.all;
  const entries = Object.entries(report.verdicts).map(([verdict, count]) =>
    [element('a', {href: pageLink('rows', {verdict})}, word(verdict)), String(count)]);
  entries.push(['rows with a ratio', `${all.graded} of ${all.rows}`]);
  if (all.geomean !== undefined)
    entries.push(['geometric mean', ratioText(all.geomean)], ['median', ratioText(all.median)], ['worst', ratioText(all.worst)]);
  if (report.vendor.rows)
    entries.push(['at least the vendor’s speed', `${report.vendor.faster} of ${report.vendor.rows}`],
                 ['vendor / ours, mean', `${ratioText(report.vendor.geomean)} (${ratioText(report.vendor.worst)} to ${ratioText(report.vendor.best)})`]);
  for (const [table, page] of [['cost', 'costs'], ['resource', 'resources']]) {
    const counts = {};
    for (const section of sectionsOf(report, table))
      for (const [verdict, count] of Object.entries(section.verdicts)) counts[verdict] = (counts[verdict] || 0) + count;
    for (const [verdict, count] of Object.entries(counts))
      entries.push([element('a', {href: pageLink(page, {verdict})}, `${page}: `, word(verdict)), String(count)]);
  }
  const tests = {};
  for (const run of report.correctness)
    for (const [end, count] of [['passed', run.passed], ['failed', run.failed.length], ['skipped', run.skipped.length]])
      if (count) tests[end] = (tests[end] || 0) + count;
  for (const [end, count] of Object.entries(tests))
    entries.push([element('a', {href: pageLink('correctness')}, 'tests: ', word(end)), String(count)]);
  const mutants = mutantRows(report);
  if (mutants.length)
    entries.push([element('a', {href: pageLink('mutants')}, 'mutants killed'), `${mutants.filter(each => each.killed).length} of ${mutants.length}`]);
  return element('dl', {class: 'cards'}, entries.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function categoryTable(report) {
  const lines = Object.entries(report.categories).map(([name, group]) =>
    [name, `${group.graded} of ${group.rows}`, ratioText(group.geomean), word(group.grade)]);
  return plainTable(['category', 'rows with a ratio', 'geometric mean', 'grade'], lines, [1, 2]);
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

// Failures first, then what would gain most time: each with the command that looks at it again.
function advice(report) {
  const entries = [];
  const ours = report.rows.filter(row => row.kind === 'ours');
  for (const run of report.correctness.filter(each => each.failed.length))
    entries.push({link: pageLink('correctness', {op: run.op, dtype: run.dtype}), id: `${run.op}.${run.dtype}`, gain: Infinity,
      words: `: ${run.failed.length} of ${testCount(run)} correctness tests fail: mend it before looking at its times`});
  for (const mutant of mutantRows(report).filter(each => !each.killed))
    entries.push({link: pageLink('mutants', {op: mutant.op, end: 'survived'}), id: `${mutant.op} ${mutant.mutant}`, gain: 1e13,
      words: `: no test finds this bug (${mutant.why}): add one that does`});
  const add = (row, gain, words) => entries.push({row, gain, words});
  for (const row of ours) {
    if (row.verdict === 'invalid') add(row, Infinity, 'gave a wrong or no result: mend it first');
    else if (row.verdict === 'regressed') add(row, 1e15 / row.ratio, `is ${digits(1 / row.ratio)} times as slow as blessed: undo the change, or bless it with a reason`);
    else if (row.standing < 0.9) add(row, row.median_ns * (1 - row.standing), `takes ${digits(1 / row.standing)} times the vendor’s time: ${timeText(row.median_ns * (1 - row.standing))} per call to gain`);
    else if (row.verdict === 'improved') add(row, 0, `is ${digits(row.ratio)} times as fast as blessed: bless it, or the gain can be lost again unseen`);
  }
  for (const row of [...costRows(report), ...resourceRows(report)].filter(each => each.exit_code === 1)) {
    const [page, id] = row.kernel ? ['resources', `${row.kernel} (${row.compiled_for})`] : ['costs', `${row.case} ${row.variant} ${row.metric}`];
    entries.push({link: pageLink(page, {q: row.kernel || `${row.case} ${row.variant} ${row.metric}`}), id, gain: 1e14, words: `: ${row.message}`});
  }
  for (const row of waste(report))
    entries.push({link: pageLink('costs', {q: kCosts.text(row)}), id: `${row.case} ${row.variant}`, gain: row.times,
      words: `: ${digits(row.times)} times ${kWaste[row.metric]}${row.site ? `, most of it at ${fileAndLine(row.site)}` : ''}${row.hint ? `: ${row.hint}` : ''}`});
  const unblessed = ours.filter(row => row.verdict === 'unblessed').length;
  entries.sort((a, b) => b.gain - a.gain);
  const items = entries.slice(0, 20).map(({row, link, id, words}) => row ? element('li', {},
    element('a', {href: pageLink('row', {row: rowId(row)})}, rowId(row)), ` ${words}. `, element('code', {}, row.reproduce))
    : element('li', {}, element('a', {href: link}, id), words));
  if (unblessed) items.push(element('li', {}, `${unblessed} rows have no baseline: `, element('code', {}, 'kernelgrade bless --why "first baseline"')));
  if (entries.length > 20) items.push(element('li', {}, `and ${entries.length - 20} more among the `, element('a', {href: pageLink('rows')}, 'rows')));
  return items.length ? element('ol', {class: 'advice'}, items) : element('p', {}, 'Nothing: no row fails, and none is slower than it should be.');
}

function trust(report) {
  const measured = report.rows.filter(row => row.median_ns);
  const wide = measured.filter(row => spread(row) > 0.05).length;
  const processes = measured.map(row => row.processes);
  const lines = [
    ['machine', `${report.environment.device_name || report.environment.device || '?'}${report.environment.cpu ? `, ${report.environment.cpu}` : ''}`],
    ['source', report.environment.source || 'not known'],
    ['measured', report.environment.date_utc || 'not known'],
    ['processes per row', processes.length ? `${Math.min(...processes)} to ${Math.max(...processes)}` : '-'],
    ['rows whose median is known no better than ±5 %', `${wide} of ${measured.length}`],
    ['rows that the machine, not the code, made unusable', String(report.rows.filter(row => row.verdict === 'env').length)],
    ...report.notes.map(note => ['note', note]),
  ];
  return plainTable(['what', 'value'], lines);
}
