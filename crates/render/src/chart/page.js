'use strict';
// Tooltips, folding, zooming. The page shows everything without it.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const all = data.associations, times = data.times;
  const $ = id => document.getElementById(id);
  const tip = $('tip');

  const percent = value => {
    if (value == null) return '–';
    const p = value * 100;
    if (p === 0) return '0 %';
    if (p < 0.095) return '<0.1 %';
    return (p < 9.95 ? p.toFixed(1) : p.toFixed(0)) + ' %';
  };
  const title = a => a.user ? a.user + '@' + a.account : a.name;
  const when = t => new Date(t * 1000).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';

  // A heading and lines beside the pointer; texts only, whatever the names hold.
  const say = (event, heading, lines) => {
    const b = document.createElement('b');
    b.textContent = heading;
    tip.replaceChildren(b, ...lines.flatMap(line => [line, document.createElement('br')]));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - width - 6);
    const y = event.clientY + height + 22 > innerHeight ? event.clientY - height - 10 : event.clientY + 16;
    tip.style.left = Math.max(4, x) + 'px';
    tip.style.top = Math.max(4, y) + 'px';
  };
  const hush = () => { tip.hidden = true; };
  const facts = a => {
    const lines = [];
    if (a.effective_usage != null) {
      const above = data.algorithm !== 'fair_tree' ? 'the whole'
        : a.parent == null ? 'the account above' : all[a.parent].name;
      lines.push('share of ' + above + ': ' + percent(a.norm_shares));
      lines.push('use of ' + above + ': ' + percent(a.effective_usage));
    }
    lines.push('due of all: ' + percent(a.due), 'used of all: ' + percent(a.used));
    if (a.fs_factor != null) lines.push('fair-share factor: ' + a.fs_factor);
    return lines;
  };

  $('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });

  // The icicle.
  const icicle = $('icicle');
  if (icicle) {
    const width = icicle.viewBox.baseVal.width;
    const cells = [...icicle.querySelectorAll('.node')];
    const starts = {}, tops = {};
    for (const by of ['due', 'used']) {
      const ends = new Array(all.length).fill(0);
      let top = 0;
      starts[by] = all.map((a, i) => {
        const start = a.parent == null ? top : ends[a.parent];
        if (a.parent == null) top += a[by]; else ends[a.parent] += a[by];
        ends[i] = start;
        return start;
      });
      tops[by] = top;
    }
    let by = 'due', focus = null;
    const letters = (text, size, room) => {
      const most = Math.floor(room / (size * 0.56));
      return text.length <= most ? text : most > 3 ? text.slice(0, most - 1) + '…' : '';
    };
    const write = (cell, name, x, y, size, text) => {
      let label = cell.querySelector('.' + name);
      if (!text) { if (label) label.remove(); return; }
      if (!label) {
        label = document.createElementNS('http://www.w3.org/2000/svg', 'text');
        label.setAttribute('class', cell.firstElementChild.getAttribute('class').replace(/^cell r/, 't') + ' ' + name);
        label.setAttribute('y', y);
        label.setAttribute('font-size', size);
        cell.append(label);
      }
      label.setAttribute('x', x);
      label.textContent = text;
    };
    const within = i => {
      for (let up = i; up != null; up = all[up].parent) if (up === focus) return true;
      for (let up = focus; up != null; up = all[up].parent) if (up === i) return true;
      return focus == null;
    };
    const layout = () => {
      const from = focus == null ? 0 : starts[by][focus];
      const span = (focus == null ? tops[by] : all[focus][by]) || 1;
      for (const cell of cells) {
        const i = +cell.dataset.i, a = all[i];
        const left = Math.max(0, (starts[by][i] - from) / span * width);
        const right = Math.min(width, (starts[by][i] + a[by] - from) / span * width);
        const wide = right - left;
        cell.style.display = within(i) && wide > 0 ? '' : 'none';
        const rect = cell.firstElementChild;
        rect.setAttribute('x', left);
        rect.setAttribute('width', Math.max(0, wide));
        const y = +rect.getAttribute('y');
        write(cell, 'name', left + 6, y + 18, 12, letters(a.name, 12, wide - 10));
        write(cell, 'sub', left + 6, y + 34, 12, a.effective_usage == null ? '' :
          letters(percent(a.effective_usage) + ' of ' + percent(a.norm_shares), 12, wide - 10));
      }
      $('focus').textContent = focus == null ? 'everything' : title(all[focus]);
    };
    const zoom = i => {
      if (all[i].kind !== 'account') return;
      focus = focus === i ? all[i].parent : i;
      if (focus != null && all[focus].parent == null) focus = null;
      layout();
    };
    for (const cell of cells) {
      const i = +cell.dataset.i;
      cell.addEventListener('pointermove', event => say(event, title(all[i]), facts(all[i])));
      cell.addEventListener('pointerleave', hush);
      cell.addEventListener('click', () => zoom(i));
      cell.addEventListener('keydown', event => { if (event.key === 'Enter') zoom(i); });
    }
    for (const input of document.querySelectorAll('input[name=by]')) {
      input.addEventListener('change', () => { by = input.value; layout(); });
    }
    $('up').addEventListener('click', () => {
      focus = focus == null ? null : all[focus].parent;
      if (focus != null && all[focus].parent == null) focus = null;
      layout();
    });
  }

  // The table.
  const rows = [...document.querySelectorAll('tr[data-i]')];
  const shut = new Set();
  const fold = () => {
    const hidden = new Set();
    for (const row of rows) {
      const i = +row.dataset.i, above = all[i].parent;
      const hide = above != null && (hidden.has(above) || shut.has(above));
      if (hide) hidden.add(i);
      row.hidden = hide;
      const twist = row.querySelector('.twist');
      if (twist) twist.setAttribute('aria-expanded', String(!shut.has(i)));
    }
  };
  for (const row of rows) {
    const i = +row.dataset.i;
    const twist = row.querySelector('.twist');
    if (twist) twist.addEventListener('click', () => { if (!shut.delete(i)) shut.add(i); fold(); });
    row.addEventListener('pointermove', event => say(event, title(all[i]), facts(all[i])));
    row.addEventListener('pointerleave', hush);
  }
  $('shut').addEventListener('click', () => {
    for (const row of rows) if (row.querySelector('.twist') && all[+row.dataset.i].parent != null) shut.add(+row.dataset.i);
    fold();
  });
  $('open').addEventListener('click', () => { shut.clear(); fold(); });

  // Courses over time.
  const nearest = (svg, event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [left, right] = [+svg.dataset.left, +svg.dataset.right];
    const part = ((event.clientX - box.left) * scale - left) / (right - left);
    const time = times[0] + part * (times[times.length - 1] - times[0]);
    let best = 0;
    times.forEach((t, i) => { if (Math.abs(t - time) < Math.abs(times[best] - time)) best = i; });
    const x = left + (times[best] - times[0]) / (times[times.length - 1] - times[0] || 1) * (right - left);
    return { at: best, x, y: (event.clientY - box.top) * scale };
  };
  const cursor = (svg, x) => {
    let line = svg.querySelector('.cursor');
    if (x == null) { if (line) line.remove(); return; }
    if (!line) {
      line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
      line.setAttribute('class', 'cursor');
      line.setAttribute('y1', svg.dataset.top);
      line.setAttribute('y2', svg.dataset.bottom);
      svg.append(line);
    }
    line.setAttribute('x1', x);
    line.setAttribute('x2', x);
  };
  const value = (list, at) => list ? list[at] : null;
  for (const svg of document.querySelectorAll('svg.panel')) {
    const a = all[+svg.dataset.i];
    svg.addEventListener('pointermove', event => {
      const { at, x } = nearest(svg, event);
      cursor(svg, x);
      say(event, title(a), [when(times[at]), 'share ' + percent(value(a.course.norm_shares, at)),
        'use ' + percent(value(a.course.effective_usage, at))]);
    });
    svg.addEventListener('pointerleave', () => { cursor(svg); hush(); });
  }
  const factors = $('factors');
  if (factors) {
    const lines = [...factors.querySelectorAll('path[data-i]')];
    const top = +factors.dataset.top, bottom = +factors.dataset.bottom;
    factors.addEventListener('pointermove', event => {
      const { at, x, y } = nearest(factors, event);
      const aim = (bottom - y) / (bottom - top);
      let pick = null, distance = Infinity;
      for (const line of lines) {
        const factor = value(all[+line.dataset.i].course.fs_factor, at);
        // Of lines that lie on one another the coloured ones are drawn last.
        if (factor != null && Math.abs(factor - aim) <= distance) {
          pick = line;
          distance = Math.abs(factor - aim);
        }
      }
      cursor(factors, x);
      for (const line of lines) line.classList.toggle('pick', line === pick);
      factors.classList.toggle('hot', pick != null);
      if (pick) {
        const a = all[+pick.dataset.i];
        say(event, title(a), [when(times[at]), 'fair-share factor ' + a.course.fs_factor[at]]);
      }
    });
    factors.addEventListener('pointerleave', () => {
      cursor(factors);
      factors.classList.remove('hot');
      hush();
    });
  }
})();
