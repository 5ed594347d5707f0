// Formats numbers and creates elements, for all pages.

// Three to four significant digits with a suitable unit.
function timeText(ns) {
  if (!(ns > 0)) return '-';
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
    if (ns >= size) return `${digits(ns / size)} ${unit}`;
  return `${digits(ns)} ns`;
}
function digits(value) { return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : '-'; }
function ratioText(value) { return value === undefined ? '-' : value.toFixed(3); }
function percentText(share) { return `${(100 * share).toFixed(1)} %`; }

// The rate in bytes or flops; see rows.cpp.
function rateText(row) {
  if (!row.median_ns) return '-';
  const memory = !(row.gflop_per_s > 8 * row.gb_per_s);
  return memory ? (row.gb_per_s > 0 ? `${digits(row.gb_per_s)} GB/s` : '-') : `${digits(row.gflop_per_s)} GFLOP/s`;
}

// Restores the lists of objects that html.cpp packed as columns; returns other values unchanged.
function unpacked(value) {
  if (value === null || value.packed === undefined) return value;
  const rows = Array.from({length: value.packed}, () => ({}));
  for (const [name, [values, places]] of Object.entries(value.columns))
    places.forEach((place, row) => { if (place >= 0) rows[row][name] = values[place]; });
  return rows;
}

// Creates an element: element('td', {class: 'number'}, 'text', child...). Text is never parsed as markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
  made.append(...children.flat().filter(child => child !== undefined));
  return made;
}
function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name with line break opportunities after its separators.
function breakable(name) {
  return name.split(/(?<=[_.,/])/).flatMap((part, i) => i ? [element('wbr'), part] : [part]);
}

// Words carry the meaning, with a sign beside them; colour is only an addition.
const kSigns = {pass: '✓', improved: '▲', regressed: '✗', invalid: '✗', inconclusive: '?', unblessed: '○', env: '~', skipped: '–',
                passed: '✓', failed: '✗', shown: '✓', missing: '✗', killed: '✓', survived: '✗',
                excellent: '●●●●', good: '●●●', fair: '●●', poor: '●', critical: '✗'};
function word(name) {
  if (!name) return element('span', {class: 'none'}, 'n/a');
  return element('span', {class: name}, `${kSigns[name] || ''} ${name}`);
}

function plainTable(header, lines, numbers = []) {
  const kind = i => numbers.includes(i) ? 'number' : undefined;
  return element('div', {class: 'scroll'}, element('table', {},
    element('thead', {}, element('tr', {}, header.map((text, i) => element('th', {scope: 'col', class: kind(i)}, text)))),
    element('tbody', {}, lines.map(cells => element('tr', {}, cells.map((cell, i) => element('td', {class: kind(i)}, cell)))))));
}
