"use strict";
// Small SVG charts: lines in bands, and points with errors. The values under the pointer are shown
// in the element #tip. Text is always set as text, so that no name can become markup.

const Charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const BOX = { width: 440, height: 250, left: 54, right: 10, top: 8, bottom: 34 };
  const ROWS_IN_TIP = 12;
  const LINE_HEIGHT = 12;
  const LEVEL_WIDTH = 70;

  function svg(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function html(parent, name, className, text) {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function format(value) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size >= 1e6) return +(value / 1e6).toPrecision(4) + "M";
    if (size >= 1e4) return +(value / 1e3).toPrecision(4) + "k";
    if (size > 0 && size < 1e-3) return (+value.toPrecision(3)).toExponential();
    return String(+value.toPrecision(4));
  }

  function withError(value, error) {
    return error ? `${format(value)} ± ${format(error)}` : format(value);
  }

  function niceTicks(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
    return ticks;
  }

  function logTicks(low, high) {
    const first = Math.ceil(Math.log10(low) - 1e-9),
      last = Math.floor(Math.log10(high) + 1e-9);
    const stride = Math.max(1, Math.ceil((last - first + 1) / 6));
    const ticks = [];
    for (let power = first; power <= last; power += stride) ticks.push(10 ** power);
    return ticks.length > 1 ? ticks : niceTicks(low, high, 4);
  }

  function makeScale(values, from, to, log) {
    let low = Math.min(...values),
      high = Math.max(...values);
    // Also where they differ by rounding alone, as means over seeds of a constant do.
    if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
      [low, high] = log
        ? [low / 2, high * 2]
        : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
    }
    const bend = log ? Math.log10 : (x) => x;
    const a = bend(low),
      b = bend(high);
    const scale = (x) => from + ((bend(x) - a) / (b - a)) * (to - from);
    scale.ticks = log ? logTicks(low, high) : niceTicks(low, high, 5);
    scale.inverse = (pixel) => {
      const bent = a + ((pixel - from) / (to - from)) * (b - a);
      return log ? 10 ** bent : bent;
    };
    return scale;
  }

  // The extent of many arrays, without spreading each of them into arguments.
  function extent(arrays) {
    let low = Infinity,
      high = -Infinity;
    for (const array of arrays) {
      for (const value of array) {
        if (value === null) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return low <= high ? [low, high] : [];
  }

  function frame(parent, title, x, y, xLabel, yLabel) {
    const figure = html(parent, "figure");
    html(figure, "figcaption", "", title);
    const chart = svg(figure, "svg", {
      class: "chart",
      viewBox: `0 0 ${BOX.width} ${BOX.height}`,
      role: "img",
      "aria-label": title,
    });
    const right = BOX.width - BOX.right,
      bottom = BOX.height - BOX.bottom;
    for (const tick of y.ticks) {
      svg(chart, "line", { class: "grid", x1: BOX.left, x2: right, y1: y(tick), y2: y(tick) });
      svg(chart, "text", { x: BOX.left - 6, y: y(tick) + 3, "text-anchor": "end" }, format(tick));
    }
    for (const tick of x.ticks) {
      svg(chart, "text", { x: x(tick), y: bottom + 14, "text-anchor": "middle" }, format(tick));
    }
    svg(chart, "line", { class: "axis", x1: BOX.left, x2: right, y1: bottom, y2: bottom });
    svg(chart, "line", { class: "axis", x1: BOX.left, x2: BOX.left, y1: BOX.top, y2: bottom });
    svg(
      chart,
      "text",
      { x: (BOX.left + right) / 2, y: BOX.height - 4, "text-anchor": "middle" },
      xLabel,
    );
    if (yLabel)
      svg(
        chart,
        "text",
        { x: -(BOX.top + bottom) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle" },
        yLabel,
      );
    return chart;
  }

  function nothing(parent, title) {
    const figure = html(parent, "figure");
    html(figure, "figcaption", "", title);
    html(figure, "p", "nothing", "not recorded");
  }

  function horizontal(values, log) {
    return makeScale(values, BOX.left, BOX.width - BOX.right, log);
  }
  function vertical(values, log) {
    return makeScale(values, BOX.height - BOX.bottom, BOX.top, log);
  }

  function linePath(series, x, y, values, keep) {
    let path = "",
      pen = "M";
    for (let i = 0; i < values.length; i++) {
      if (!keep(values[i])) {
        pen = "M";
        continue;
      }
      path += `${pen}${x(series.x[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      pen = "L";
    }
    return path;
  }

  // Values with no neighbour, which no line shows.
  function lonely(values, keep) {
    const there = (i) => i >= 0 && i < values.length && keep(values[i]);
    return [...values.keys()].filter((i) => there(i) && !there(i - 1) && !there(i + 1));
  }

  // Lines across the chart, each with its name above its beginning, where curves are seldom, or beside the one below it.
  function drawLevels(chart, y, levels) {
    let column = 0,
      below = Infinity;
    for (const [value, name] of [...levels].sort((a, b) => a[0] - b[0])) {
      const [left, right, at] = [BOX.left, BOX.width - BOX.right, y(value)];
      column = below - at < LINE_HEIGHT ? column + 1 : 0;
      below = at;
      svg(chart, "line", { class: "level", x1: left, x2: right, y1: at, y2: at });
      const text = `${name} ${format(value)}`;
      svg(chart, "text", { class: "level", x: left + 4 + column * LEVEL_WIDTH, y: at - 4 }, text);
    }
  }

  // series: [{label, style: {colour, dash}, x: [], y: [], error: [] or undefined}]; levels: [[value, name]]
  function lines(parent, { title, series, xLabel, log = false, levels = [] }) {
    const keep = log ? (v) => v !== null && v > 0 : (v) => v !== null;
    const shown = series.filter((s) => s.y.some(keep));
    if (!shown.length) return nothing(parent, title);
    const bands = shown
      .filter((s) => s.error && !log)
      .map((s) => ({
        ...s,
        low: s.y.map((v, i) => (v === null ? null : v - (s.error[i] || 0))),
        high: s.y.map((v, i) => (v === null ? null : v + (s.error[i] || 0))),
      }));
    const heights = [
      ...shown.map((s) => s.y.filter(keep)),
      ...bands.flatMap((b) => [b.low, b.high]),
      levels.flatMap(([value]) => [0, value]),
    ];
    const x = horizontal(extent(shown.map((s) => s.x)), false),
      y = vertical(extent(heights), log);
    const chart = frame(parent, title, x, y, xLabel);
    for (const band of bands) {
      const there = linePath(band, x, y, band.high, keep);
      const reversed = { x: [...band.x].reverse() };
      const back = linePath(reversed, x, y, [...band.low].reverse(), keep).replace("M", "L");
      svg(chart, "path", { d: there + back + "Z", fill: band.style.colour, opacity: 0.15 });
    }
    for (const s of shown) {
      svg(chart, "path", {
        class: "series",
        d: linePath(s, x, y, s.y, keep),
        fill: "none",
        stroke: s.style.colour,
        "stroke-width": shown.length > 40 ? 0.7 : 1.5,
        "stroke-dasharray": s.style.dash,
      });
    }
    for (const s of shown) {
      for (const i of lonely(s.y, keep)) {
        const place = { cx: x(s.x[i]), cy: y(s.y[i]), r: 2.5 };
        svg(chart, "circle", { class: "lone", ...place, fill: s.style.colour });
      }
    }
    drawLevels(chart, y, levels);
    const marks = svg(chart, "g", {});
    hover(chart, (at) => {
      marks.replaceChildren();
      if (!at) return null;
      const value = x.inverse(at.x);
      svg(marks, "line", {
        class: "guide",
        x1: at.x,
        x2: at.x,
        y1: BOX.top,
        y2: BOX.height - BOX.bottom,
      });
      const rows = [];
      for (const s of shown) {
        const i = nearest(s.x, value);
        if (!keep(s.y[i])) continue;
        rows.push({ distance: Math.abs(y(s.y[i]) - at.y), s, i });
      }
      rows.sort((a, b) => a.distance - b.distance);
      for (const { s, i } of rows.slice(0, ROWS_IN_TIP)) {
        svg(marks, "circle", { cx: x(s.x[i]), cy: y(s.y[i]), r: 3, fill: s.style.colour });
      }
      return {
        head: rows.length ? `${xLabel} ${format(rows[0].s.x[rows[0].i])}` : "",
        rows: rows.map(({ s, i }) => [s.style, s.label, withError(s.y[i], s.error && s.error[i])]),
      };
    });
  }

  // points: [{label, style, x, y, xError, yError}]
  function points(parent, { title, points: all, xLabel, yLabel }) {
    const shown = all.filter((p) => p.x !== null && p.y !== null);
    if (!shown.length) return nothing(parent, title);
    const pad = (low, high) => {
      const room = (high - low) * 0.08;
      return [low - room, high + room];
    };
    const x = horizontal(pad(...extent(shown.map((p) => [p.x - p.xError, p.x + p.xError]))), false);
    const y = vertical(pad(...extent(shown.map((p) => [p.y - p.yError, p.y + p.yError]))), false);
    const chart = frame(parent, title, x, y, xLabel, yLabel);
    for (const p of shown) {
      svg(chart, "ellipse", {
        cx: x(p.x),
        cy: y(p.y),
        rx: Math.abs(x(p.x + p.xError) - x(p.x)),
        ry: Math.abs(y(p.y + p.yError) - y(p.y)),
        fill: p.style.colour,
        opacity: 0.18,
      });
      svg(chart, "path", {
        class: "point",
        d: symbol(p.style.marker, x(p.x), y(p.y)),
        fill: p.style.colour,
        stroke: "#fff",
        "stroke-width": 0.8,
      });
    }
    hover(chart, (at) => {
      if (!at) return null;
      const away = (p) => Math.hypot(x(p.x) - at.x, y(p.y) - at.y);
      const near = shown.reduce((a, b) => (away(b) < away(a) ? b : a));
      if (away(near) > 25) return null;
      return {
        head: near.label,
        rows: [
          [near.style, xLabel, withError(near.x, near.xError)],
          [near.style, yLabel, withError(near.y, near.yError)],
        ],
      };
    });
  }

  function nearest(sorted, value) {
    let low = 0,
      high = sorted.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle;
      else high = middle;
    }
    return value - sorted[low] < sorted[high] - value ? low : high;
  }

  // So many corners, how far out and in between, and by how much turned.
  const CORNERS = {
    star: [5, 6.5, 2.7, 0],
    triangle: [3, 5.5, 2.75, 0],
    wedge: [3, 5.5, 2.75, Math.PI],
    square: [4, 5.6, 3.96, Math.PI / 4],
    diamond: [4, 6.2, 4.38, 0],
    cross: [4, 6.5, 2, Math.PI / 4],
    pentagon: [5, 5.2, 4.2, 0],
    hexagram: [6, 6, 3.2, 0],
  };

  function symbol(marker, x, y) {
    const corners = CORNERS[marker];
    if (!corners) return `M${x - 4.2} ${y}a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0 -8.4 0Z`;
    const [count, outer, inner, turn] = corners;
    const corner = (i) => {
      const angle = (i * Math.PI) / count - Math.PI / 2 + turn,
        radius = i % 2 ? inner : outer;
      return `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y + radius * Math.sin(angle)).toFixed(1)}`;
    };
    return "M" + Array.from({ length: 2 * count }, (_, i) => corner(i)).join("L") + "Z";
  }

  function swatch(parent, style) {
    const picture = svg(parent, "svg", { class: "swatch", width: 26, height: 14 });
    svg(picture, "line", {
      x1: 0,
      x2: 26,
      y1: 7,
      y2: 7,
      stroke: style.colour,
      "stroke-width": 2,
      "stroke-dasharray": style.dash,
    });
    svg(picture, "path", { d: symbol(style.marker, 13, 7), fill: style.colour, stroke: "#fff" });
  }

  // `describe` gets the pointer's place in the chart, or null, and returns {head, rows} or null.
  function hover(chart, describe) {
    const tip = document.getElementById("tip");
    chart.addEventListener("pointermove", (event) => {
      const place = chart.getBoundingClientRect();
      const at = {
        x: ((event.clientX - place.left) / place.width) * BOX.width,
        y: ((event.clientY - place.top) / place.height) * BOX.height,
      };
      const inside =
        at.x >= BOX.left && at.x <= BOX.width - BOX.right && at.y <= BOX.height - BOX.bottom;
      const text = describe(inside ? at : null);
      tip.hidden = !text;
      if (!text) return;
      tip.replaceChildren();
      html(tip, "div", "head", text.head);
      for (const [style, label, value] of text.rows.slice(0, ROWS_IN_TIP)) {
        const row = html(tip, "div", "row");
        swatch(row, style);
        html(row, "span", "", label);
        html(row, "span", "value", value);
      }
      if (text.rows.length > ROWS_IN_TIP)
        html(tip, "div", "head", `and ${text.rows.length - ROWS_IN_TIP} more`);
      const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
      const top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8);
      tip.style.left = `${left}px`;
      tip.style.top = `${top}px`;
    });
    chart.addEventListener("pointerleave", () => {
      describe(null);
      tip.hidden = true;
    });
  }

  return { lines, points, swatch, format, html };
})();
