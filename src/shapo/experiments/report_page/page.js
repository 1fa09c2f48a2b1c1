"use strict";
// Puts the data of the page into charts and tables.

(() => {
  const { html, format } = Charts;
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
  // Each gradient rule's dash and marker; the next ones where there are more methods than colours.
  const RULES = {
    plain: [["5 3", "disc"], ["8 3 2 3", "square"], ["8 3 2 3 2 3", "pentagon"]],
    sam: [["1.5 2.5", "triangle"], ["1.5 6", "wedge"], ["1.5 2.5 1.5 8", "hexagram"]],
    shapo: [["", "star"], ["16 3", "diamond"], ["16 3 2 3", "cross"]],
  };
  const LEARNING = ["reward/episode", "cost/episode", "cost/rate", "cost/total", "cost/p95"];
  const DIAGNOSTICS = [
    "gradient/alpha",
    "gradient/kl",
    "gradient/cosine",
    "policy/multiplier",
    "policy/kl",
  ];
  const LIMITED = "cost/episode";
  const LOGARITHMIC = new Set(["gradient/alpha", "gradient/kl"]);

  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const hidden = new Set();
  const labels = [...new Set(data.groups.map((group) => group.label))];
  const methods = [...new Set(data.groups.map((group) => group.method))];
  // With several methods, a method keeps its colour and the gradient rule is told by line and marker.
  const rank = (group) =>
    methods.length > 1 ? methods.indexOf(group.method) : labels.indexOf(group.label);
  const styleOf = (group) => {
    const looks = RULES[group.gradient] ?? RULES.plain;
    const [dash, marker] = looks[Math.floor(rank(group) / COLOURS.length) % looks.length];
    return { colour: COLOURS[rank(group) % COLOURS.length], dash, marker };
  };
  const columns = Object.keys(data.columns);
  // Of the table's columns, so many hold names, which may be long.
  const NAMES = 3;
  // A legend that is higher scrolls away with the page instead of covering it.
  const STAYS_BELOW = 120;

  function shownGroups() {
    return data.groups.filter(
      (group) => group.env === byId("env").value && !hidden.has(group.label),
    );
  }

  function limits() {
    return [...new Set(shownGroups().map((group) => group.limit))].map((value) => [value, "limit"]);
  }

  function seriesOf(column) {
    if (byId("view").value === "groups") {
      return shownGroups()
        .filter((group) => group.curves[column])
        .map((group) => {
          const [x, y, error] = group.curves[column];
          return { label: group.label, style: styleOf(group), x, y, error };
        });
    }
    const shown = new Set(shownGroups());
    return data.runs
      .filter((run) => shown.has(data.groups[run.group]) && run.curves[column])
      .map((run) => ({
        label: run.name,
        style: styleOf(data.groups[run.group]),
        x: run.steps,
        y: run.curves[column],
      }));
  }

  function drawCurves(place, names) {
    byId(place).replaceChildren();
    for (const name of names) {
      Charts.lines(byId(place), {
        title: data.curves[name],
        series: seriesOf(name),
        xLabel: "steps",
        log: LOGARITHMIC.has(name),
        levels: name === LIMITED ? limits() : [],
      });
    }
  }

  function meanAndError(values) {
    const known = values.filter((value) => value !== null);
    if (!known.length) return [null, 0];
    const mean = known.reduce((a, b) => a + b, 0) / known.length;
    const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return [mean, known.length > 1 ? Math.sqrt(squares / (known.length - 1) / known.length) : 0];
  }

  function drawTradeoff() {
    const place = byId("tradeoff");
    place.replaceChildren();
    for (const cost of ["cost/rate", "cost/total"]) {
      const points = shownGroups().map((group) => {
        const runs = data.runs.filter(
          (run) => data.groups[run.group] === group && !run.left_out,
        );
        const [x, xError] = meanAndError(runs.map((run) => run.final[columns.indexOf(cost)]));
        const [y, yError] = meanAndError(
          runs.map((run) => run.final[columns.indexOf("reward/episode")]),
        );
        return { label: group.label, style: styleOf(group), x, xError, y, yError };
      });
      Charts.points(place, {
        title: `Return against ${data.curves[cost].toLowerCase()}`,
        points,
        xLabel: data.curves[cost].toLowerCase(),
        yLabel: "return",
      });
    }
    const tails = shownGroups().map((group) => ({
      label: group.label,
      style: styleOf(group),
      x: group.tail[0],
      y: group.tail[1],
    }));
    Charts.lines(place, {
      title: "Tail: share of late episodes that cost more",
      series: tails,
      xLabel: "episode cost",
      log: true,
    });
  }

  function draw() {
    drawCurves("learning", LEARNING);
    drawTradeoff();
    drawCurves("diagnostics", DIAGNOSTICS);
    drawLegend();
  }

  function drawLegend() {
    const legend = byId("legend");
    legend.replaceChildren();
    for (const group of data.groups.filter((g) => g.env === byId("env").value)) {
      const button = html(legend, "button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(group.label)));
      Charts.swatch(button, styleOf(group));
      const seeds = group.seeds === 1 ? "1 seed" : `${group.seeds} seeds`;
      html(button, "span", "", `${group.label} (${seeds})`);
      button.addEventListener("click", () => {
        if (!hidden.delete(group.label)) hidden.add(group.label);
        draw();
      });
    }
    legend.parentElement.classList.toggle("high", legend.offsetHeight > STAYS_BELOW);
  }

  function drawRunTable() {
    const table = byId("runs");
    const head = html(html(table, "thead"), "tr");
    const body = html(table, "tbody");
    const names = [
      "run",
      "environment",
      "configuration",
      "seed",
      "steps",
      ...columns.map((c) => data.columns[c]),
      "steps/s",
      "state",
    ];
    const rows = data.runs.map((run) => {
      const group = data.groups[run.group];
      return [
        run.name,
        group.env,
        group.label,
        run.seed,
        run.steps.at(-1),
        ...run.final,
        run.speed,
        run.state,
      ];
    });
    const fill = () => {
      body.replaceChildren();
      for (const row of rows) {
        const line = html(body, "tr");
        row.forEach((value, i) => {
          const isText = typeof value === "string";
          const kind = isText ? (i < NAMES ? "name" : "") : "number";
          const cell = html(line, "td", kind, isText ? value : format(value));
          if (kind === "name") cell.title = value;
          if (i === row.length - 1 && value !== "finished") cell.className = "state-bad";
        });
      }
    };
    names.forEach((name, i) => {
      const cell = html(head, "th", rows.length && typeof rows[0][i] !== "string" ? "number" : "");
      cell.scope = "col";
      const button = html(cell, "button", "", name);
      button.type = "button";
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        for (const other of head.children) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.sort((a, b) => (down ? -1 : 1) * compare(a[i], b[i], down));
        fill();
      });
    });
    fill();
  }

  // Missing numbers come last, whichever way the table is sorted.
  function compare(a, b, down) {
    if (a === null || b === null) return (down ? -1 : 1) * ((a === null) - (b === null));
    return typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
  }

  function drawTable(place, head, rows) {
    const table = html(html(place, "div", "wide"), "table");
    const line = html(html(table, "thead"), "tr");
    for (const name of head) html(line, "th", "", name);
    const body = html(table, "tbody");
    for (const row of rows) {
      const cells = html(body, "tr");
      for (const value of row) html(cells, "td", "", value);
    }
  }

  function drawComparison() {
    const place = byId("comparison");
    place.hidden = !data.comparisons.length && !data.not_compared.length;
    drawTable(
      place,
      [
        "environment",
        "comparison",
        "pairs",
        "return, 95 % interval",
        "cost rate, 95 % interval",
        "P(more return)",
        "P(less cost)",
      ],
      data.comparisons.map(([env, label, pairs, reward, rate, better, safer]) => [
        env,
        label,
        pairs,
        reward,
        rate,
        pairs > 1 ? better.toFixed(2) : "–",
        pairs > 1 ? safer.toFixed(2) : "–",
      ]),
    );
    for (const line of data.not_compared) html(place, "p", "", `Not compared: ${line}.`);
  }

  function drawProblems() {
    const failed = data.runs.filter((run) => run.state !== "finished");
    const rows = [
      ...failed.map((run) => [
        run.name,
        run.state === "unfinished"
          ? `unfinished: ${format(run.steps.at(-1))} of ${format(run.total)} steps`
          : run.state,
      ]),
      ...data.runs
        .filter((run) => run.left_out)
        .map((run) => [run.name, `in no mean: ${run.left_out}`]),
      ...data.groups
        .filter((group) => group.costs > 1)
        .map((group) => [group.label, `only the first of its ${group.costs} costs is shown`]),
      ...data.skipped,
    ];
    if (rows.length) drawTable(byId("problems"), ["run", "what is wrong"], rows);
    else html(byId("problems"), "p", "nothing", "Nothing: every run was read, is finished and counts.");
  }

  function drawSettings() {
    const place = byId("settings");
    if (data.varying.length) {
      html(place, "p", "", "What differs between the runs:");
      drawTable(place, ["setting", "values"], data.varying);
    }
    const shared = html(place, "details");
    html(shared, "summary", "", `The ${data.shared.length} settings that all runs share`);
    drawTable(shared, ["setting", "value"], data.shared);
  }

  document.title = data.title;
  byId("title").textContent = data.title;
  const finished = data.runs.filter((run) => run.state === "finished").length;
  const versions = [...new Set(data.runs.map((run) => run.version))].join(", ");
  const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
  byId("counts").textContent =
    `${counted(data.runs.length, "run")}, ${finished} finished · ` +
    `${counted(data.skipped.length, "folder")} left out` +
    (versions ? ` · shapo ${versions}` : "");
  for (const env of [...new Set(data.groups.map((group) => group.env))]) {
    const option = html(byId("env"), "option", "", env);
    option.value = env;
  }
  window.addEventListener("resize", drawLegend);
  byId("env").addEventListener("change", draw);
  byId("view").addEventListener("change", draw);
  draw();
  drawComparison();
  drawRunTable();
  drawProblems();
  drawSettings();
})();
