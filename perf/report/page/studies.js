// Studies: one question over many problems, measured by `kernelgrade study`. See docs/how-to/run_a_study.md.

const kStudyState = {0: 'passed', 77: 'skipped'};
function studyState(study) { return kStudyState[study.exit_code] || 'failed'; }

// Studies of the same kind are distinguished by their start time.
function studyLink(study) { return pageLink('studies', {study: study.name, begun: study.date_utc}); }

// Time against size, a curve per variant with its 99 % intervals. Vertical lines mark significant crossovers.
function studyPlot(study, group) {
  const curves = study.curves.filter(curve => curve.group === group);
  const points = curves.flatMap(curve => curve.times);
  const ends = values => [Math.min(...values), Math.max(...values)];
  const title = `Time against size${group ? `: ${group}` : ''}`;
  const plot = logPlot(title, {x: ends(points.map(each => each.size)), y: ends(points.flatMap(each => [each.ci_lo_ns, each.ci_hi_ns]))},
    study.axis, 'median', (value, axis) => axis === 'y' ? timeText(value) : digits(value));
  const entries = curves.map((curve, i) => [curve.kind === 'vendor' ? `${curve.variant} (vendor)` : curve.variant, kMarks[i % kMarks.length], kLineColours[i % kLineColours.length]]);
  for (const each of study.crossovers.filter(crossover => crossover.group === group))
    plot.svg.append(shape('path', {class: 'ceiling', 'stroke-dasharray': '4 3', d: `M${plot.x(each.size)} 10V316`},
      shape('title', {}, `${each.after} overtakes ${each.before} at about ${digits(each.size)} ${study.axis}`)));
  curves.forEach((curve, i) => {
    const [, kind, colour] = entries[i];
    const at = each => `${plot.x(each.size)} ${plot.y(each.ns)}`;
    plot.svg.append(shape('path', {class: 'line', stroke: colour, d: `M${curve.times.map(at).join('L')}`}));
    for (const each of curve.times)
      plot.svg.append(shape('path', {class: 'line', stroke: colour, d: `M${plot.x(each.size)} ${plot.y(each.ci_lo_ns)}V${plot.y(each.ci_hi_ns)}`}),
        mark(kind, plot.x(each.size), plot.y(each.ns), colour, `${curve.variant}: ${digits(each.size)} ${study.axis}, ${timeText(each.ns)}`));
  });
  return [element('h3', {}, title), plot.svg, legend(entries)];
}

function studyLines(section) { return element('p', {}, section.lines.map(words => element('span', {class: 'line'}, words))); }

function studySection(section) {
  const parts = [element('h3', {}, section.title), studyLines(section)];
  if (!section.table) return parts;
  const [header, ...lines] = section.table;
  const table = plainTable(header, lines);
  table.firstChild.className = 'dense';
  return [...parts, table];
}

function studiesPage(report) {
  const view = state();
  const chosen = report.studies.find(study => study.name === view.get('study') && study.date_utc === view.get('begun')) || report.studies[0];
  const rows = report.studies.map(study => [element('a', {href: studyLink(study), 'aria-current': study === chosen ? 'true' : undefined}, study.name),
    word(studyState(study)), study.date_utc, study.line.replace(/^[^:]*: /, '')]);
  const [machine, ...sections] = chosen.sections;
  const groups = [...new Set(chosen.curves.map(curve => curve.group))];
  return [element('h2', {}, 'Studies'), textTable(['study', 'end', 'begun', 'experiments'], rows),
    element('h2', {}, machine.title), studyLines(machine),
    ...groups.flatMap(group => studyPlot(chosen, group)), ...sections.flatMap(studySection)];
}
