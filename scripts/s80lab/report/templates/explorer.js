// SPDX-License-Identifier: GPL-2.0-or-later
// Table and scatter plot of an exploration (report/exploration/page.py). Only the rows of one page are in the
// document, so that 10,000 designs stay usable. Without this script, the page has a static table and figure.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("designs").textContent);
  const root = document.getElementById("explorer");
  const PAGE = 100, WIDTH = 820, HEIGHT = 400, LEFT = 64, BOTTOM = 48, TOP = 14, RIGHT = 14;
  const SVG = "http://www.w3.org/2000/svg";
  const state = { column: -1, down: false, first: 0, rows: data.rows.map((_, row) => row), x: 0, y: 1 };

  const text = (cell) => (Array.isArray(cell) ? cell[0] : cell);
  const value = (cell) => (Array.isArray(cell) ? cell[1] : cell);
  const lower = data.rows.map((row) => row.map((cell) => String(text(cell)).toLowerCase()));

  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, one] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), one);
      else node.setAttribute(key, one);
    }
    node.append(...children);
    return node;
  }

  // A filter is a list of words. `column<number` and `column>number` compare; any other word must be the beginning of a
  // cell, so that 1MiB does not find 512KiB or 11MiB.
  const UNITS = { kib: 1024, mib: 1048576, gib: 1073741824 };
  function parse(words) {
    return words.toLowerCase().replace(/\s*([<>])\s*/g, "$1").match(/(?:[^\s<>"]|"[^"]*"|[<>])+/g)?.map((word) => {
      const compared = word.replaceAll('"', "").match(/^(.+)([<>])(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(kib|mib|gib|%)?$/);
      if (!compared) return (row) => lower[row].some((cell) => cell.startsWith(word.replaceAll('"', "")));
      const [, name, sign, number, unit] = compared;
      let column = data.columns.findIndex(([title]) => title.toLowerCase() === name);
      if (column < 0) column = data.columns.findIndex(([title]) => title.toLowerCase().includes(name));
      const limit = Number(number) * (UNITS[unit] ?? 1);
      return (row) => {
        const one = column < 0 ? null : value(data.rows[row][column]);
        return typeof one === "number" && (sign === "<" ? one < limit : one > limit);
      };
    }) ?? [];
  }

  function select() {
    const tests = parse(filter.value);
    state.rows = data.rows.map((_, row) => row).filter((row) => tests.every((test) => test(row)));
    if (state.column >= 0) {
      const cellOf = (row) => value(data.rows[row][state.column]);
      const sign = state.down ? -1 : 1;
      state.rows.sort((a, b) => {
        const first = cellOf(a), second = cellOf(b);
        if (first === null || second === null) return (first === null) - (second === null);
        return first < second ? -sign : first > second ? sign : a - b;
      });
    }
    state.first = 0;
    show();
    draw();
  }

  function show() {
    const last = Math.min(state.first + PAGE, state.rows.length);
    body.replaceChildren(...state.rows.slice(state.first, last).map((row) => element("tr", {},
      ...data.rows[row].map((cell, column) => element("td", data.columns[column][1] ? {} : { class: "word" }, text(cell))))));
    const count = `${state.rows.length.toLocaleString("en")} of ${data.rows.length.toLocaleString("en")} designs`;
    status.textContent = state.rows.length ? `${count}; rows ${state.first + 1} to ${last}` : count;
    before.disabled = state.first === 0;
    after.disabled = last === state.rows.length;
    heads.forEach((head, column) => {
      const order = column !== state.column ? "none" : state.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", order);
      head.firstChild.lastChild.textContent = { none: "", ascending: " ▲", descending: " ▼" }[order];
    });
  }

  function sort(column) {
    state.down = state.column === column && !state.down;
    state.column = column;
    select();
  }

  function turn(rows) {
    state.first += rows;
    show();
  }

  const filter = element("input", { type: "search", id: "filter", size: "44", "aria-describedby": "filter-help",
    oninput: () => { clearTimeout(filter.timer); filter.timer = setTimeout(select, 120); } });
  const status = element("span", { role: "status" });
  const before = element("button", { type: "button", onclick: () => turn(-PAGE) }, "Previous rows");
  const after = element("button", { type: "button", onclick: () => turn(PAGE) }, "Next rows");
  const heads = data.columns.map(([title, isNumber], column) => element("th", { scope: "col", ...(isNumber ? {} : { class: "word" }) },
    element("button", { type: "button", onclick: () => sort(column) }, title, element("span", { "aria-hidden": "true" }))));
  const body = element("tbody");
  const table = element("div", {},
    element("p", {}, element("label", { for: "filter" }, "Filter: "), filter),
    element("p", { class: "note", id: "filter-help" },
      "Words that a row must contain, such as moesi 4MiB, and comparisons with a column, such as CPI<2 or \"l2 mpki\">1."),
    element("p", {}, before, " ", after, " ", status),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Designs" },
      element("table", { class: "designs" }, element("thead", {}, element("tr", {}, ...heads)), body)));

  // The scatter plot. All points are one path of dots, which a browser draws fast.
  const draw_node = (name, attributes, label) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, one] of Object.entries(attributes)) node.setAttribute(key, one);
    if (label !== undefined) node.textContent = label;
    return node;
  };

  function ticks(low, high) {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
    const wide = [1, 2, 5, 10].map((factor) => factor * step).find((one) => (high - low) / one <= 6) ?? 10 * step;
    const found = [];
    for (let one = Math.ceil(low / wide) * wide; one <= high * 1.0001; one += wide) found.push(Number(one.toPrecision(6)));
    return found;
  }

  // An axis maps values to 0 ... 1. Doublings have equal distances.
  function axis(quantity, known) {
    const values = known.map((row) => quantity.values[row]);
    let low = values.reduce((one, other) => Math.min(one, other), Infinity);
    let high = values.reduce((one, other) => Math.max(one, other), -Infinity);
    if (quantity.doubling && low > 0) {
      [low, high] = [Math.log2(low) - 0.2, Math.log2(high) + 0.2];
      const places = [];
      for (let one = Math.ceil(low); one <= high; one += Math.max(1, Math.round((high - low) / 8))) places.push(2 ** one);
      return { place: (value) => (Math.log2(value) - low) / (high - low), ticks: places };
    }
    high = high > 0 ? high * 1.05 : 1;
    low = Math.min(0, low);
    return { place: (value) => (value - low) / (high - low), ticks: ticks(low, high) };
  }

  function draw() {
    const [xs, ys] = [data.quantities[state.x].values, data.quantities[state.y].values];
    const known = data.rows.map((_, row) => row).filter((row) => xs[row] !== null && ys[row] !== null);
    const [across, up] = [axis(data.quantities[state.x], known), axis(data.quantities[state.y], known)];
    const px = (x) => LEFT + across.place(x) * (WIDTH - LEFT - RIGHT);
    const py = (y) => HEIGHT - BOTTOM - up.place(y) * (HEIGHT - BOTTOM - TOP);
    const dots = (rows) => rows.map((row) => `M${px(xs[row]).toFixed(1)} ${py(ys[row]).toFixed(1)}h0`).join("");
    const chosen = new Set(state.rows);
    const pair = `${Math.min(state.x, state.y)},${Math.max(state.x, state.y)}`;
    const front = [...(data.fronts[pair] ?? [])].sort((a, b) => xs[a] - xs[b] || ys[a] - ys[b]);
    const svg = draw_node("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": `${data.quantities[state.x].title} and ${data.quantities[state.y].title} of ${known.length} designs; the table below has the ${front.length} designs on the Pareto front` });
    for (const tick of across.ticks) {
      svg.append(draw_node("path", { class: "grid", d: `M${px(tick)} ${TOP}V${HEIGHT - BOTTOM}` }),
        draw_node("text", { x: px(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, tick));
    }
    for (const tick of up.ticks) {
      svg.append(draw_node("path", { class: "grid", d: `M${LEFT} ${py(tick)}H${WIDTH - RIGHT}` }),
        draw_node("text", { x: LEFT - 8, y: py(tick) + 4, "text-anchor": "end" }, tick));
    }
    svg.append(
      draw_node("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, data.quantities[state.x].title),
      draw_node("text", { x: 14, y: (HEIGHT - BOTTOM) / 2, transform: `rotate(-90 14 ${(HEIGHT - BOTTOM) / 2})`, "text-anchor": "middle" }, data.quantities[state.y].title),
      draw_node("path", { class: "dots other", d: dots(known.filter((row) => !chosen.has(row))) }),
      draw_node("path", { class: "dots", d: dots(known.filter((row) => chosen.has(row))) }),
      draw_node("polyline", { class: "front", points: front.map((row) => `${px(xs[row])},${py(ys[row])}`).join(" ") }));
    for (const row of front) {
      const dot = draw_node("circle", { class: "front", cx: px(xs[row]), cy: py(ys[row]), r: 4 });
      dot.append(draw_node("title", {}, data.labels[row]));
      svg.append(dot);
    }
    svg.addEventListener("pointermove", (event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let near = -1, best = 225;
      for (const row of known) {
        const distance = (px(xs[row]) - place.x) ** 2 + (py(ys[row]) - place.y) ** 2;
        if (distance < best) [near, best] = [row, distance];
      }
      pointed.textContent = near < 0 ? "" : `${data.labels[near]}: ${xs[near]} and ${ys[near]}`;
    });
    plot.replaceChildren(svg);
    frontBody.replaceChildren(...front.map((row) => element("tr", {},
      element("th", { scope: "row" }, data.labels[row]), element("td", {}, String(xs[row])), element("td", {}, String(ys[row])))));
    frontHeads[0].textContent = data.quantities[state.x].title;
    frontHeads[1].textContent = data.quantities[state.y].title;
    frontTitle.textContent = `The ${front.length} designs on the Pareto front`;
  }

  const chooser = (name) => element("select", { id: `choose-${name}`, onchange: (event) => {
    state[name] = Number(event.target.value);
    draw();
  } }, ...data.quantities.map((one, place) => element("option", { value: place, ...(place === state[name] ? { selected: "" } : {}) }, one.title)));
  const plot = element("figure", { class: "scatter" });
  const pointed = element("p", { class: "note pointed" });
  const frontHeads = [element("th", { scope: "col" }), element("th", { scope: "col" })];
  const frontBody = element("tbody");
  const frontTitle = element("summary");
  const scatter = element("div", {},
    element("p", {}, element("label", { for: "choose-x" }, "Across: "), chooser("x"), " ",
      element("label", { for: "choose-y" }, "Up: "), chooser("y")),
    plot, pointed,
    element("details", {}, frontTitle, element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, element("td"), ...frontHeads)), frontBody))));

  const place = document.getElementById("scatter-plot");
  place.replaceChildren(scatter);
  const still = document.getElementById("static-designs");
  still.querySelector(".scroll").hidden = true;
  still.before(root);
  root.append(table);
  select();
})();
