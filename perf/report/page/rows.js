// Pages of rows with filters and sorting, shown in parts, since a browser needs seconds for thousands of table rows.

const kRowsAtOnce = 200;
const kGradeOrder = ['critical', 'poor', 'fair', 'good', 'excellent'];
const kVerdictOrder = ['invalid', 'regressed', 'inconclusive', 'unblessed', 'env', 'skipped', 'improved', 'pass', 'unchanged'];

// A table: its title, its columns, the members to filter by, and the text that `find` searches.
const kTimings = {title: 'Rows', filters: ['op', 'dtype', 'variant', 'mode', 'grade', 'verdict'], text: row => rowId(row), columns: [
  {id: 'case', title: 'case', value: row => row.case, name: true, cell: row => element('a', {href: pageLink('row', {row: rowId(row)})}, breakable(row.case))},
  {id: 'variant', title: 'variant', value: row => row.variant, cell: row => row.variant + (row.kind === 'vendor' ? ' (vendor)' : '')},
  {id: 'mode', title: 'mode', value: row => row.mode},
  {id: 'median', title: 'median', value: row => row.median_ns, cell: row => timeText(row.median_ns), number: true},
  {id: 'spread', title: '±99 % CI', value: spread, cell: row => row.median_ns ? spread(row) > 1 ? '> ±100 %' : `±${percentText(spread(row))}` : '-', number: true},
  {id: 'rate', title: 'rate', value: row => row.gb_per_s, cell: rateText, number: true},
  {id: 'vendor_speedup', title: 'vs vendor', value: row => row.vendor_speedup, cell: row => ratioText(row.vendor_speedup), number: true, gpu: true},
  {id: 'ratio', title: 'vs baseline', value: row => row.ratio, cell: row => ratioText(row.ratio), number: true},
  {id: 'grade', title: 'grade', value: row => row.grade && kGradeOrder.indexOf(row.grade), cell: row => word(row.grade)},
  {id: 'verdict', title: 'verdict', value: row => kVerdictOrder.indexOf(row.verdict), cell: row => word(row.verdict)},
]};

function spread(row) { return row.median_ns ? (row.ci_hi_ns - row.ci_lo_ns) / 2 / row.median_ns : undefined; }

// Rows that pass all filters; `q` is a part of the text.
function filtered(table, rows, view) {
  const wanted = table.filters.filter(key => view.get(key));
  const part = (view.get('q') || '').toLowerCase();
  return rows.filter(row => wanted.every(key => (row[key] || 'n/a') === view.get(key)) &&
                            (!part || table.text(row).toLowerCase().includes(part)));
}

// Sorts by a column, ascending or (-) descending; rows without a value come last. '': in the report's order, worst first.
function sorted(table, rows, order) {
  if (!order) return rows;
  const down = order.startsWith('-');
  const column = table.columns.find(each => each.id === order.replace('-', ''));
  if (!column) return rows;
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === undefined || y === undefined) return compare(x === undefined, y === undefined);
    return down ? compare(y, x) : compare(x, y);
  });
}

function filterForm(table, rows, view) {
  const form = element('form', {class: 'filters', role: 'search'});
  const search = element('input', {type: 'search', id: 'find', value: view.get('q') || '', placeholder: 'part of a case'});
  search.addEventListener('change', () => go({q: search.value, more: ''}));
  form.append(element('label', {}, 'find', search));
  for (const key of table.filters) {
    const values = [...new Set(rows.map(row => row[key] || 'n/a'))].sort();
    if (values.length < 2 && !view.get(key)) continue;
    const select = element('select', {id: `filter-${key}`}, element('option', {value: ''}, 'all'),
      values.map(value => element('option', {value, selected: view.get(key) === value}, value)));
    select.addEventListener('change', () => go({[key]: select.value, more: ''}));
    form.append(element('label', {}, key, select));
  }
  form.addEventListener('submit', event => { event.preventDefault(); go({q: search.value, more: ''}); });
  return form;
}

function rowsTable(rows, view, columns) {
  const order = view.get('sort') || '';
  const heading = column => {
    const direction = order === column.id ? 'ascending' : order === `-${column.id}` ? 'descending' : undefined;
    const button = element('button', {type: 'button', id: `sort-${column.id}`}, column.title,
      direction ? (direction === 'ascending' ? ' ↑' : ' ↓') : '');
    button.addEventListener('click', () => go({sort: direction === 'ascending' ? `-${column.id}` : column.id}));
    return element('th', {scope: 'col', 'aria-sort': direction, class: classes(column)}, button);
  };
  const cell = (column, row) => element('td', {class: classes(column), 'data-title': column.title}, column.cell ? column.cell(row) : column.name ? breakable(column.value(row)) : column.value(row));
  return element('div', {class: 'scroll'}, element('table', {id: 'rows'},
    element('thead', {}, element('tr', {}, columns.map(heading))),
    element('tbody', {}, rows.map(row => element('tr', {}, columns.map(column => cell(column, row)))))));
}
function classes(column) { return [column.number && 'number', column.prose && 'prose', column.name && 'name'].filter(Boolean).join(' ') || undefined; }

// Rows in the report's order, or sorted by a column.
function tablePage(table, rows) {
  const view = state();
  const columns = table.columns.filter(column => !column.gpu || rows.some(row => row.vendor_speedup !== undefined));
  const found = sorted(table, filtered(table, rows, view), view.get('sort'));
  const shown = Math.max(kRowsAtOnce, Number(view.get('more')) || 0);
  const parts = [element('h2', {}, table.title), filterForm(table, rows, view),
    element('p', {id: 'count', role: 'status'}, `${found.length} of ${rows.length} rows` +
      (found.length > shown ? `, the first ${shown} shown` : '')),
    rowsTable(found.slice(0, shown), view, columns)];
  if (found.length > shown) {
    const more = element('button', {type: 'button', class: 'plain', id: 'more'}, `show ${Math.min(1000, found.length - shown)} more`);
    more.addEventListener('click', () => go({more: String(shown + 1000)}));
    parts.push(element('p', {}, more));
  }
  return parts;
}

// Failures first, then by ratio, then rows without a ratio; see rows.cpp.
function worstFirst(rows) {
  const badness = row => [row.exit_code === 1 ? 0 : 1, row.ratio ?? (row.exit_code === 1 ? -Infinity : Infinity)];
  return rows.map(row => ({row, key: badness(row)})).sort((a, b) => a.key[0] - b.key[0] || (a.key[1] < b.key[1] ? -1 : a.key[1] > b.key[1] ? 1 : 0)).map(({row}) => row);
}

function rowsPage(report) { return tablePage(kTimings, worstFirst(report.rows)); }
