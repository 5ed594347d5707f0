// Shows the page named in the address.

const kReport = JSON.parse(document.getElementById('report').textContent, (key, value) => unpacked(value));

// The emulator's times come last, and have no GPU roof.
const kEmulated = isEmulated(kReport);
const kPages = [['overview', 'Overview', overviewPage], ['advice', 'Recommendations', advicePage],
                ...(kEmulated ? [] : [['rows', 'Rows', rowsPage], ['roofline', 'Roofline', rooflinePage]]),
                ['costs', 'Costs', costsPage, report => sectionsOf(report, 'cost').length > 0],
                ['resources', 'Resources', resourcesPage, report => sectionsOf(report, 'resource').length > 0],
                ['compare', 'A/B comparison', comparePage, report => comparedRows(report).some(row => row.ratio !== undefined)],
                ['correctness', 'Correctness', correctnessPage, report => report.correctness.length > 0],
                ['mutants', 'Mutants', mutantsPage, report => report.mutants.length > 0],
                ['studies', 'Studies', studiesPage, report => report.studies.length > 0],
                ['history', 'History', historyPage, report => report.history.rows.length > 0],
                ['failures', 'Failures and skips', failuresPage],
                ...(kEmulated ? [['rows', 'Times of the emulator', rowsPage, report => report.rows.length > 0]] : []),
                ['environment', 'Environment', environmentPage]];

const kOutcome = {0: ['pass', '✓'], 77: ['skipped', '–']}[kReport.exit_code] || ['regressed', '✗'];

function show() {
  const page = state().get('page') || 'overview';
  const [, , build] = kPages.find(([id]) => id === page) || ['row', 'Row', page === 'row' ? rowPage : overviewPage];
  const shown = kPages.filter(([, , , belongs]) => !belongs || belongs(kReport));
  document.getElementById('pages').replaceChildren(...shown.map(([id, title]) =>
    element('li', {}, element('a', {href: pageLink(id), 'aria-current': id === page ? 'page' : undefined}, title))));
  const focused = document.activeElement.id; // keeps the keyboard focus while filtering and sorting
  document.getElementById('content').replaceChildren(...build(kReport));
  if (focused) document.getElementById(focused)?.focus();
}

document.getElementById('banner').replaceChildren(element('span', {class: kOutcome[0]}, `${kOutcome[1]} ${kReport.line}`));
document.getElementById('footer').textContent = `Report schema ${kReport.schema}; ${kReport.environment.source || ''} ${kReport.environment.date_utc || ''}`;
window.addEventListener('hashchange', () => { show(); });
show();
