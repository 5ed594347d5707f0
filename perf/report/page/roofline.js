// The device's limits: the roofline, and the environment with the device's limits.

const kLimitNames = {dram_bytes_per_s: 'memory', f32_flops_per_s: 'f32', f64_flops_per_s: 'f64', f32_matrix_flops_per_s: 'matrix instructions, TF32',
                     f16_matrix_flops_per_s: 'matrix instructions, f16', bf16_matrix_flops_per_s: 'matrix instructions, bf16', l2_bytes: 'L2 cache'};
function limitName(name) { return kLimitNames[name] || name.replace(/_(bytes|flops)_per_s$/, '').replace(/_ns$/, '').replaceAll('_', ' '); }
function limitText(name, value) {
  if (value === undefined) return '-';
  if (name.endsWith('_bytes_per_s')) return `${digits(value / 1e9)} GB/s`;
  if (name.endsWith('_flops_per_s')) return `${digits(value / 1e12)} TFLOP/s`;
  return name.endsWith('_ns') ? timeText(value) : name.endsWith('_bytes') ? bytesText(value) : digits(value);
}

// A title, the report's member, and the dash pattern of its lines.
const kRoofKinds = [['measured on this device', 'ceilings', undefined], ['by design', 'theory', '5 4']];
function roofLines(limits) {
  const rates = unit => Object.entries(limits).filter(([name]) => name.endsWith(unit)).map(([name, value]) => [name, value / 1e9]);
  return {bandwidths: rates('bytes_per_s'), peaks: rates('flops_per_s')};
}

// Operations per second against operations per byte. Lines show the ceilings measured on this device, and its theoretical limits.
function rooflinePage(report) {
  const rows = report.rows.filter(row => row.median_ns && row.bytes > 0 && row.flops > 0);
  const heading = element('h2', {}, 'Roofline');
  if (!rows.length) return [heading, element('p', {}, 'No measured row has both bytes and operations.')];
  const kinds = kRoofKinds.map(([title, member, dashes]) => ({title, dashes, ...roofLines(report[member])})).filter(each => each.bandwidths.length + each.peaks.length);
  const intensity = row => row.flops / row.bytes;
  const all = rows.map(intensity);
  const speeds = [...rows.map(row => row.gflop_per_s), ...kinds.flatMap(each => each.peaks.map(([, value]) => value))];
  const plot = logPlot('roofline', {x: [Math.min(...all), Math.max(...all)], y: [Math.min(...speeds), Math.max(...speeds)]},
    'operations per byte', 'GFLOP/s');
  for (const {title, dashes, bandwidths, peaks} of kinds) {
    const line = (d, name, value, unit) => plot.svg.append(shape('path', {class: 'ceiling', ...(dashes ? {'stroke-dasharray': dashes} : {}), d},
      shape('title', {}, `${limitName(name)}, ${title}: ${digits(value)} ${unit}`)));
    const top = Math.max(...peaks.map(([, value]) => value), ...(peaks.length ? [] : [plot.top]));
    for (const [name, value] of bandwidths) {
      const until = Math.min(plot.high, top / value);
      if (until > plot.low) line(`M${plot.x(plot.low)} ${plot.y(value * plot.low)}L${plot.x(until)} ${plot.y(value * until)}`, name, value, 'GB/s');
    }
    for (const [name, value] of peaks) line(`M${plot.x(plot.low)} ${plot.y(value)}H${plot.x(plot.high)}`, name, value, 'GFLOP/s');
  }
  for (const row of rows) {
    const colour = row.share_of_roof > 1 ? 'var(--critical)' : row.kind === 'vendor' ? 'var(--none)' : 'var(--link)';
    plot.svg.append(mark(row.kind === 'vendor' ? 'diamond' : row.share_of_roof > 1 ? 'cross' : 'circle', plot.x(intensity(row)), plot.y(row.gflop_per_s), colour,
      `${rowId(row)}: ${rateText(row)}${row.share_of_roof ? `, ${percentText(row.share_of_roof)} of its roof` : ''}`));
  }
  const measured = kinds.some(each => !each.dashes), byDesign = kinds.some(each => each.dashes);
  const notes = [measured ? 'Whole lines: ceilings measured on this device. A cross is above its ceiling: its time or its work is wrong.'
                          : 'No ceiling has been measured on this device, so none is drawn.',
                 byDesign ? 'Broken lines: what the device cannot exceed by its design.' : ''].filter(Boolean);
  return [heading, plot.svg, legend([['ours', 'circle', 'var(--link)'], ['vendor', 'diamond', 'var(--none)']]),
    element('p', {}, notes.map(note => element('span', {class: 'line'}, note))), ...(kinds.length ? [limitTable(report)] : [])];
}

// The device's theoretical limits beside its measured ceilings.
function limitTable(report) {
  const names = [...new Set([...Object.keys(report.theory), ...Object.keys(report.ceilings)])];
  const share = name => report.ceilings[name] && report.theory[name] ? percentText(report.ceilings[name] / report.theory[name]) : '-';
  return plainTable(['limit', 'by design', 'measured', 'share'],
    names.map(name => [limitName(name), limitText(name, report.theory[name]), limitText(name, report.ceilings[name]), share(name)]), [1, 2, 3]);
}

function limitParts(report) {
  const parts = [element('h2', {}, 'Theoretical limits')];
  if (!Object.keys(report.theory).length)
    parts.push(element('p', {}, report.environment.device === 'host'
      ? 'On the host kernels run on an emulator. No limit of a device explains its times; the minimum of an operation is among its costs.'
      : 'Not known: the files do not tell the device’s clocks and its memory’s width, or its compute capability is a new one.'));
  else
    parts.push(element('p', {class: 'none'}, 'By design: units times their highest clock, and the memory’s width times its clock. A device under load seldom runs at its highest clock.'));
  return Object.keys({...report.theory, ...report.ceilings}).length ? [...parts, limitTable(report)] : parts;
}

function environmentPage(report) {
  return [element('h2', {}, 'Environment'), factTable(Object.entries(report.environment)), ...limitParts(report)];
}
