// Charts as plain SVG. Each has a title and a description in words.

const kGradeColours = ['excellent', 'good', 'fair', 'poor', 'critical', 'none'].map(name => [name, `var(--${name})`]);
const kMarks = ['circle', 'square', 'diamond', 'triangle', 'cross'];
const kLineColours = ['var(--link)', 'var(--excellent)', 'var(--fair)', 'var(--critical)', 'var(--none)', 'var(--good)'];

function chart(width, height, title) {
  return shape('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title}, shape('title', {}, title));
}
function text(x, y, words, attributes = {}) { return shape('text', {x, y, class: 'label', ...attributes}, words); }

// One bar per group with the number of rows by grade.
function gradeBars(groups) {
  const [left, bar, step] = [140, 420, 26];
  const svg = chart(left + bar + 60, groups.length * step + 6, 'rows by grade and category');
  groups.forEach(({name, counts, total}, i) => {
    const y = i * step + 4;
    svg.append(text(left - 8, y + 14, name, {'text-anchor': 'end'}));
    let x = left;
    for (const [grade, colour] of kGradeColours) {
      const count = counts[grade] || 0;
      if (!count) continue;
      const width = bar * count / total;
      svg.append(shape('rect', {x, y, width, height: 18, fill: colour, stroke: 'var(--paper)'},
        shape('title', {}, `${name}: ${count} ${grade === 'none' ? 'without a grade' : grade}`)));
      if (width > 16) svg.append(shape('text', {x: x + width / 2, y: y + 13, 'text-anchor': 'middle', fill: 'var(--paper)'}, String(count)));
      x += width;
    }
    svg.append(text(left + bar + 8, y + 14, String(total)));
  });
  return svg;
}

// A plot with logarithmic axes. ranges: {x: [low, high], y: [low, high]}, positive numbers. tick(value, axis): the label of a tick.
function logPlot(title, ranges, xLabel, yLabel, tick = digits, xTicks = ticks) {
  const frame = {left: 78, right: 12, top: 10, bottom: 44, width: 640, height: 360};
  const svg = chart(frame.width, frame.height, title);
  const span = ([low, high]) => {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const room = Math.max(0.08 * (to - from), 0.1);
    return [from - room, to + room];
  };
  const [x0, x1] = span(ranges.x);
  const [y0, y1] = span(ranges.y);
  const x = value => frame.left + (Math.log10(value) - x0) / (x1 - x0) * (frame.width - frame.left - frame.right);
  const y = value => frame.height - frame.bottom - (Math.log10(value) - y0) / (y1 - y0) * (frame.height - frame.top - frame.bottom);
  const axis = d => svg.append(shape('path', {class: 'axis', d}));
  axis(`M${frame.left} ${frame.top}V${frame.height - frame.bottom}H${frame.width - frame.right}`);
  for (const value of xTicks(x0, x1)) {
    axis(`M${x(value)} ${frame.top}V${frame.height - frame.bottom}`);
    svg.append(text(x(value), frame.height - frame.bottom + 16, tick(value, 'x'), {'text-anchor': 'middle'}));
  }
  for (const value of ticks(y0, y1)) {
    axis(`M${frame.left} ${y(value)}H${frame.width - frame.right}`);
    svg.append(text(frame.left - 6, y(value) + 4, tick(value, 'y'), {'text-anchor': 'end'}));
  }
  svg.append(text((frame.left + frame.width) / 2, frame.height - 8, xLabel, {'text-anchor': 'middle'}));
  svg.append(text(0, 0, yLabel, {'text-anchor': 'middle', transform: `translate(14 ${frame.height / 2}) rotate(-90)`}));
  return {svg, x, y, low: 10 ** x0, high: 10 ** x1, top: 10 ** y1};
}

// Powers of ten, or 1, 2 and 5 times each if there are few.
function ticks(from, to) {
  const found = [];
  const parts = to - from > 3 ? [1] : [1, 2, 5];
  for (let power = Math.floor(from); power <= Math.ceil(to); ++power)
    for (const part of parts) {
      const value = part * 10 ** power;
      if (Math.log10(value) >= from && Math.log10(value) <= to) found.push(value);
    }
  return found;
}

// Powers of two, at most eight.
function byteTicks(from, to) {
  const [first, last] = [from, to].map(power => power / Math.log10(2));
  const step = Math.ceil((last - first) / 8);
  const found = [];
  for (let power = Math.ceil(first); power <= last; power += step) found.push(2 ** power);
  return found;
}

function mark(kind, x, y, colour, title) {
  const paths = {square: `M${x - 4} ${y - 4}h8v8h-8z`, diamond: `M${x} ${y - 6}l6 6l-6 6l-6 -6z`,
                 triangle: `M${x} ${y - 6}l6 10h-12z`, cross: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`};
  const attributes = {stroke: colour, 'stroke-width': 1.6, fill: kind === 'cross' ? 'none' : colour, 'fill-opacity': 0.35};
  return kind === 'circle' ? shape('circle', {cx: x, cy: y, r: 4.5, ...attributes}, shape('title', {}, title))
                           : shape('path', {d: paths[kind], ...attributes}, shape('title', {}, title));
}

function legend(entries) {
  return element('p', {}, entries.map(([name, kind, colour]) => {
    const sign = shape('svg', {width: 16, height: 14, 'aria-hidden': 'true'}, mark(kind, 8, 7, colour, ''));
    return element('span', {class: 'pair'}, sign, ` ${name}`);
  }));
}

// Cumulative distribution: the share of rows (up) with a ratio of at most x.
function ratioCurve(ratios) {
  const values = [...ratios].sort((a, b) => a - b);
  const [width, height, left, bottom] = [480, 220, 72, 44];
  const svg = chart(width, height, 'share of rows with at most that ratio to the baseline');
  const high = Math.max(1.2, values[values.length - 1]);
  const x = value => left + value / high * (width - left - 10);
  const y = share => height - bottom - share * (height - bottom - 10);
  for (const edge of [0.2, 0.5, 0.7, 0.9, 1]) {
    svg.append(shape('path', {class: 'axis', d: `M${x(edge)} 10V${height - bottom}`}));
    svg.append(text(x(edge), height - bottom + 17, String(edge), {'text-anchor': edge === 0.9 ? 'end' : 'middle'}));
  }
  for (const share of [0, 0.5, 1]) svg.append(text(left - 6, y(share) + 4, percentText(share), {'text-anchor': 'end'}));
  const steps = values.map((value, i) => `H${x(value)}V${y((i + 1) / values.length)}`).join('');
  svg.append(shape('path', {class: 'line', stroke: 'var(--link)', d: `M${x(0)} ${y(0)}${steps}H${x(high)}`}));
  svg.append(text((left + width) / 2, height - 6, 'baseline / measured (below 1: slower than blessed)', {'text-anchor': 'middle'}));
  return svg;
}

// The distribution of a row's samples from 21 quantiles: each bar holds a twentieth of the samples.
function sampleHistogram(quantiles, median) {
  const [width, height, left] = [640, 130, 10];
  const svg = chart(width, height, 'distribution of the samples');
  const [low, high] = [quantiles[0], quantiles[quantiles.length - 1]];
  const span = high - low || 1;
  const x = value => left + (value - low) / span * (width - 2 * left);
  const heights = quantiles.slice(1).map((q, i) => 1 / Math.max(q - quantiles[i], span / 500));
  const highest = Math.max(...heights);
  heights.forEach((each, i) => {
    const tall = 90 * each / highest;
    svg.append(shape('rect', {x: x(quantiles[i]), y: 100 - tall, width: Math.max(1, x(quantiles[i + 1]) - x(quantiles[i])), height: tall,
      fill: 'var(--link)', 'fill-opacity': 0.55}, shape('title', {}, `5 % of the samples from ${timeText(quantiles[i])} to ${timeText(quantiles[i + 1])}`)));
  });
  svg.append(shape('path', {class: 'ceiling', d: `M${x(median)} 4V100`}));
  svg.append(text(x(low), 118, timeText(low)), text(x(high), 118, timeText(high), {'text-anchor': 'end'}));
  svg.append(text(Math.min(Math.max(x(median), 160), width - 160), 118, `median ${timeText(median)}`, {'text-anchor': 'middle'}));
  return svg;
}
