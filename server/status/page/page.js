// The status page: figures come as server-sent events over fetch(), because EventSource sends no Authorization header. All texts from the
// server become text nodes, never markup.
"use strict";

const $ = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const svg = (tag, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

// ---- the token: from the address's fragment into the tab's storage

let token = sessionStorage.getItem("token") || "";
function takeToken() {
  const match = location.hash.match(/token=([0-9a-f]+)/);
  if (!match) return;
  token = match[1];
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", location.pathname + "#status");
}
takeToken();

async function call(name, body = {}) {
  const answer = await fetch("api/" + name, {
    method: "POST", headers: { "Authorization": "Bearer " + token, "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.message);
  return value;
}

// ---- numbers and tables

const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);
const count = (value) => Number(value).toLocaleString("en");
function bytes(value) {
  let size = Number(value);
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (size < 1024 || unit === "TB") return (unit === "B" ? size : size.toFixed(1)) + " " + unit;
    size /= 1024;
  }
}
const objects = (result) => (result.rows || []).map((row) => Object.fromEntries(row.map((value, i) => [result.columns[i], value])));

/// A table of a result. `show`: for a column, what stands in its cells. `hidden`: the last column, if it is not shown.
function table(result, none, show = {}, hidden = "") {
  const shown = (_, i) => result.columns[i] !== hidden;
  if (result.error) return make("p", { className: "error", textContent: result.error.message });
  if (!result.rows || result.rows.length === 0) return make("p", { className: "none", textContent: none });
  const isNumber = result.types.map((type) => NUMBERS.has(type));
  const head = make("tr", {}, ...result.columns.filter(shown).map((name, i) => make("th", { textContent: name.replaceAll("_", " "), className: isNumber[i] ? "number" : "" })));
  const body = result.rows.map((row) => make("tr", {}, ...row.filter(shown).map((value, i) => {
    const name = result.columns[i];
    if (show[name]) return make("td", { className: isNumber[i] ? "number" : "" }, show[name](value, row));
    if (value === null) return make("td", { className: "null", textContent: "" });
    if (name === "query" || name === "indexes") return make("td", { className: "sql", textContent: value });
    return make("td", { className: isNumber[i] ? "number" : "", textContent: isNumber[i] && /^-?\d+$/.test(value) && name !== "pid" ? count(value) : value });
  })));
  return make("div", { className: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

// ---- metrics: Prometheus's text format

function parseMetrics(text) {
  const series = [];
  for (const line of text.split("\n")) {
    const match = line.match(/^([a-z_]+)(?:\{(.*)\})? (\S+)/);
    if (!match) continue;
    const labels = Object.fromEntries([...(match[2] || "").matchAll(/(\w+)="([^"]*)"/g)].map((label) => [label[1], label[2]]));
    series.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return series;
}
const total = (series, name) => series.filter((one) => one.name === name).reduce((sum, one) => sum + one.value, 0);

const HEIGHT = 170, LEFT = 44, BOTTOM = 22;
let WIDTH = 600;  // of the chart that is drawn, in its own pixels
function frame(chart, most, label) {
  WIDTH = Math.max(240, chart.clientWidth || chart.parentElement?.clientWidth || 600);
  chart.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    const y = (HEIGHT - BOTTOM) * (1 - share) + 6;
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y, y2: y }), svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, label(most * share)));
  }
  chart.replaceChildren(...parts);
}
const short = (value) => value >= 1e6 ? (value / 1e6).toFixed(1) + "M" : value >= 1e4 ? (value / 1e3).toFixed(0) + "k" : value >= 100 || value === Math.round(value) ? value.toFixed(0) : value.toFixed(1);

function lineChart(chart, values) {
  const most = Math.max(1, ...values);
  frame(chart, most, short);
  if (values.length < 2) return;
  const SLOTS = 120;
  const points = values.map((value, i) => [WIDTH - (values.length - 1 - i) * (WIDTH - LEFT) / (SLOTS - 1), (HEIGHT - BOTTOM) * (1 - value / most) + 6]);
  const path = points.map(([x, y], i) => (i === 0 ? "M" : "L") + x.toFixed(1) + " " + y.toFixed(1)).join("");
  const base = HEIGHT - BOTTOM + 6;
  chart.append(svg("path", { class: "area", d: `${path}L${WIDTH} ${base}L${points[0][0].toFixed(1)} ${base}Z` }), svg("path", { class: "line", d: path }),
    svg("text", { x: LEFT, y: HEIGHT - 2 }, "two minutes ago"), svg("text", { x: WIDTH, y: HEIGHT - 2, "text-anchor": "end" }, "now"));
}

function barChart(chart, bars, label = short) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  frame(chart, most, label);
  const width = (WIDTH - LEFT) / Math.max(1, bars.length);
  bars.forEach((bar, i) => {
    const height = (HEIGHT - BOTTOM) * bar.value / most;
    const rect = svg("rect", { class: "bar", x: LEFT + i * width + 2, y: HEIGHT - BOTTOM + 6 - height, width: Math.max(1, width - 4), height, rx: 2 });
    rect.append(svg("title", {}, `${bar.name}: ${bar.value}`));
    chart.append(rect);
    const step = Math.ceil(bars.length / 9);
    if (i % step === 0) chart.append(svg("text", { x: LEFT + (i + 0.5) * width, y: HEIGHT - 2, "text-anchor": "middle" }, bar.name));
  });
}

// ---- the status view

const rates = [];
let before = null;
function duration(seconds) {
  if (seconds < 0.001) return (seconds * 1e6).toFixed(0) + "µs";
  return seconds < 1 ? (seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0) + "ms" : seconds.toFixed(0) + "s";
}

function showStatus(event) {
  const metrics = parseMetrics(event.metrics);
  const now = { time: performance.now(), statements: total(metrics, "redquel_statement_duration_seconds_count") };
  if (before) rates.push(Math.max(0, (now.statements - before.statements) * 1000 / (now.time - before.time)));
  before = now;
  if (rates.length > 120) rates.shift();
  lineChart($("rate"), rates);

  const buckets = new Map();
  for (const one of metrics.filter((series) => series.name === "redquel_statement_duration_seconds_bucket")) {
    buckets.set(one.labels.le, (buckets.get(one.labels.le) || 0) + one.value);
  }
  let below = 0;
  barChart($("durations"), [...buckets].map(([bound, value]) => {
    const bar = { name: bound === "+Inf" ? "more" : duration(Number(bound)), value: value - below };
    below = value;
    return bar;
  }));

  const redis = Object.fromEntries(objects(event.redis).map((row) => [row.name, row.value]));
  const sessions = objects(event.sessions);
  const cards = [
    ["sessions", count(sessions.length)], ["active", count(sessions.filter((one) => one.state === "active").length)],
    ["wait for a lock", count(sessions.filter((one) => (one.waits || "").startsWith("Lock")).length)],
    ["statements", count(now.statements)], ["a second", rates.length ? short(rates[rates.length - 1]) : "–"],
    ["in Redis", redis.used_memory ? bytes(redis.used_memory) : "–"],
    ["in memory tables", bytes(objects(event.memory).reduce((sum, one) => sum + Number(one.bytes || 0), 0))],
  ];
  const ready = metrics.find((one) => one.name === "redquel_ready");
  $("cards").replaceChildren(...cards.map(([name, value]) => make("div", { className: "card" }, make("b", { textContent: value, id: "card-" + name.replaceAll(" ", "-") }), make("span", { textContent: name }))));
  $("state").textContent = ready && ready.value === 1 ? "ready" : "not ready";
  $("state").className = ready && ready.value === 1 ? "live" : "lost";

  const state = (value) => make("span", { className: value === "active" ? "active" : "", textContent: value || "" });
  const waits = (value) => make("span", { className: (value || "").startsWith("Lock") ? "waiting" : "", textContent: value || "" });
  $("sessions").replaceChildren(table(event.sessions, "No session is open.", { state, waits }));
  $("locks").replaceChildren(table(event.locks, "No lock is held.", { granted: (value) => make("span", { className: value === "t" ? "" : "waiting", textContent: value === "t" ? "held" : "waits" }) }));
  const last = (event.statements.columns || []).indexOf("id"), database = (event.statements.columns || []).indexOf("database");
  const planButton = (value, row) => make("button", { type: "button", className: "statement", title: "Show its plan", textContent: value, onclick: () => showPlan(value, row[last], row[database]) });
  $("statements").replaceChildren(table(event.statements, "No statement has run.", { query: planButton }, "id"));
  $("databases").replaceChildren(table(event.databases, "There is no database."));
  $("memory").replaceChildren(table(event.memory, "No table is kept in memory.", { bytes: (value) => bytes(value || 0) }));
  $("redis").replaceChildren(table({ columns: ["name", "value"], types: [25, 25], rows: redisRows(redis) }, "Redis does not say."));
  showDiscovery(objects(event.discovery)[0]);
  $("progress-part").hidden = !(event.progress.rows || []).length;
  $("progress").replaceChildren(table(event.progress, ""));
}

function showDiscovery(discovery) {
  $("discovery-part").hidden = !discovery;
  if (!discovery) return;
  const ends = ["done", "interrupted", "failed"].includes(discovery.state);
  $("discovery-bar").hidden = ends;
  $("discovery-bar").max = Math.max(Number(discovery.keys_total), 1);
  $("discovery-bar").value = Number(discovery.keys_seen);
  const left = discovery.seconds_left ? `, about ${Math.ceil(discovery.seconds_left)} s left` : "";
  const without = Number(discovery.left_out) ? `, ${count(discovery.left_out)} forms of keys without a table (redquel.left_out)` : "";
  $("discovery-text").textContent = `${discovery.state}: ${count(discovery.keys_seen)} of ${count(discovery.keys_total)} keys, ${count(discovery.tables)} tables${left}${without}`;
}

function redisRows(redis) {
  const rows = [];
  const add = (name, value) => { if (value !== undefined && value !== "undefined") rows.push([name, String(value)]); };
  add("version", redis.valkey_version ? "Valkey " + redis.valkey_version : redis.redis_version);
  add("role", redis.role);
  add("replicas", redis.connected_slaves);
  for (const name of ["slave0", "slave1"]) add("replica", redis[name]);
  add("memory", redis.used_memory && bytes(redis.used_memory) + (Number(redis.maxmemory) ? " of " + bytes(redis.maxmemory) : ", no limit"));
  add("eviction", redis.maxmemory_policy + (Number(redis.evicted_keys) ? `, ${count(redis.evicted_keys)} keys are lost` : ""));
  add("append-only file", redis.aof_enabled === "1" ? "on, " + redis.aof_last_write_status : redis.aof_enabled && "off");
  add("last snapshot", redis.rdb_last_save_time && new Date(redis.rdb_last_save_time * 1000).toLocaleString() + ", " + redis.rdb_last_bgsave_status);
  add("changes since", redis.rdb_changes_since_last_save && count(redis.rdb_changes_since_last_save));
  add("commands a second", redis.instantaneous_ops_per_sec && count(redis.instantaneous_ops_per_sec));
  return rows;
}

let streaming = false;
async function stream() {
  if (streaming) return;
  streaming = true;
  while (true) {
    try {
      const answer = await fetch("api/stream", { headers: { "Authorization": "Bearer " + token } });
      if (answer.status === 401) { streaming = false; return askToken("This token does not open the page."); }
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (true) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
          const event = text.slice(0, end);
          if (event.startsWith("data: ")) showStatus(JSON.parse(event.slice(6)));
        }
      }
    } catch (error) { /* the connection is lost: once more, below */ }
    $("state").textContent = "no connection";
    $("state").className = "lost";
    before = null;
    await new Promise((resume) => setTimeout(resume, 2000));
  }
}

// ---- tables

async function showTables() {
  try {
    const { tables } = await call("tables", { database: $("tables-database").value });
    $("tables").replaceChildren(table(tables, "The database has no tables.", {
      bytes: (value) => value === null ? "" : bytes(value), index_bytes: (value) => value === null ? "" : bytes(value),
      rows: (value) => value === null || Number(value) < 0 ? "" : count(value) }));
  } catch (error) {
    $("tables").replaceChildren(make("p", { className: "error", textContent: error.message }));
  }
}

// ---- the console

let consoleName = null, words = [], results = [], pageRows = 100;
const KEYWORDS = "SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET HAVING DISTINCT JOIN LEFT RIGHT INNER ON USING AS AND OR NOT IN EXISTS BETWEEN LIKE IS NULL CASE WHEN THEN ELSE END INSERT INTO VALUES UPDATE SET DELETE RETURNING CREATE TABLE INDEX VIEW DROP ALTER EXPLAIN ANALYZE WITH UNION ALL INTERSECT EXCEPT ASC DESC COUNT SUM AVG MIN MAX".split(" ");
const CATALOG = "SELECT n.nspname AS schema, c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, " +
  "EXISTS (SELECT FROM pg_constraint p WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attnum = ANY (p.conkey)) AS key, " +
  "(SELECT string_agg(m.amname, ', ') FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam WHERE x.indrelid = c.oid AND x.indkey[0] = a.attnum AND NOT x.indisprimary) AS index " +
  "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid " +
  "WHERE c.relkind IN ('r', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, a.attnum";

async function connectConsole(event) {
  event.preventDefault();
  $("login-error").textContent = "";
  try {
    const answer = await call("open", { role: $("role").value, password: $("password").value, database: $("database").value });
    if (answer.error) throw new Error(answer.error.message + (answer.error.hint ? "\n" + answer.error.hint : ""));
    consoleName = answer.console;
    $("outcome").textContent = answer.writes ? "" : "this token only reads";
    $("password").value = "";
    $("login-form").hidden = true;
    $("workbench").hidden = false;
    await loadCatalog();
    showHistory();
    $("sql").focus();
  } catch (error) { $("login-error").textContent = error.message; }
}

async function loadCatalog() {
  const { results: [catalog] } = await call("run", { console: consoleName, sql: CATALOG });
  const tables = new Map();
  const names = new Set();
  for (const row of objects(catalog)) {
    const name = row.schema === "public" ? row.table : row.schema + "." + row.table;
    if (!tables.has(name)) tables.set(name, []);
    tables.get(name).push(row);
    names.add(name).add(row.column);
  }
  words = [...names, ...KEYWORDS];
  $("schema").replaceChildren(...[...tables].filter(([name]) => !name.startsWith("redis.")).map(([name, columns]) => make("details", {}, make("summary", { textContent: name }),
    make("ul", {}, ...columns.map((one) => make("li", { textContent: `${one.column} ${one.type}${one.key === "t" ? ", key" : ""}${one.index ? ", " + one.index : ""}` }))))));
  if (tables.size === 0) $("schema").replaceChildren(make("p", { className: "none", textContent: "no tables yet" }));
}

const selectedSql = () => {
  const area = $("sql");
  return area.selectionStart < area.selectionEnd ? area.value.slice(area.selectionStart, area.selectionEnd) : area.value;
};

async function runSql(sql, asPlan) {
  if (!consoleName || !sql.trim() || $("run").disabled) return;
  remember(sql);
  $("run").disabled = $("explain").disabled = true;
  $("cancel").disabled = false;
  $("outcome").textContent = "runs …";
  try {
    const answer = await call("run", { console: consoleName, sql: asPlan ? "EXPLAIN (FORMAT JSON) " + sql : sql });
    results = answer.results;
    const failed = results.some((one) => one.error);
    $("results").replaceChildren(...results.map((one) => asPlan && !one.error ? planResult(one) : resultBox(one, sql)));
    $("outcome").textContent = `${failed ? "failed" : results.map((one) => one.tag).join(", ")} in ${answer.milliseconds.toFixed(1)} ms`;
    if (!asPlan && /\b(create|alter|drop|comment|import)\b/i.test(sql)) await loadCatalog();
  } catch (error) {
    results = [];
    $("outcome").textContent = "";
    $("results").replaceChildren(make("p", { className: "error", textContent: error.message }));
    if (error.message === "the session has ended" || error.message === "there is no such console") disconnectConsole();
  }
  $("run").disabled = $("explain").disabled = false;
  $("cancel").disabled = true;
  const grid = !asPlan && results.find((one) => one.columns.length);
  $("as-csv").disabled = $("as-json").disabled = $("as-chart").disabled = !grid;
}

function disconnectConsole() {
  consoleName = null;
  $("workbench").hidden = true;
  $("login-form").hidden = false;
  $("login-error").textContent = "The session has ended.";
}

function resultBox(result, sql) {
  const box = make("div", { className: "result" });
  for (const notice of result.notices) box.append(make("p", { className: "none", textContent: `${notice.severity}: ${notice.message}` }));
  if (result.error) {
    const { message, sqlstate, detail, hint, position } = result.error;
    box.append(make("p", { className: "error", textContent: `ERROR ${sqlstate}: ${message}${detail ? "\nDETAIL: " + detail : ""}${hint ? "\nHINT: " + hint : ""}` }));
    if (position) {
      const at = [...sql].slice(0, position - 1).join("").length;
      $("sql").focus();
      if ($("sql").value === sql) $("sql").setSelectionRange(at, at);
    }
    return box;
  }
  if (!result.columns.length) {
    box.append(make("p", { className: "none", textContent: result.tag }));
    return box;
  }
  let page = 0;
  const grid = make("div"), pages = make("div", { className: "pages" });
  const show = () => {
    const rows = result.rows.slice(page * pageRows, (page + 1) * pageRows);
    grid.replaceChildren(table({ ...result, rows }, "no rows"));
    const last = Math.max(0, Math.ceil(result.rows.length / pageRows) - 1);
    const button = (text, to) => make("button", { type: "button", textContent: text, disabled: to < 0 || to > last, onclick: () => { page = to; show(); } });
    pages.replaceChildren(button("‹", page - 1), button("›", page + 1), `rows ${result.rows.length ? page * pageRows + 1 : 0}–${page * pageRows + rows.length} of ${count(result.rows.length)}${result.more ? "; the rest was not read" : ""}`);
  };
  show();
  box.append(grid, pages);
  return box;
}

function planResult(result) {
  const box = make("div", { className: "result" });
  const plan = JSON.parse(result.rows.map((row) => row[0]).join("\n"));
  const node = (one) => {
    const facts = make("dl");
    const fact = (name, value, className = "") => facts.append(make("dt", { textContent: name }), make("dd", { textContent: value, className }));
    for (const [name, value] of Object.entries(one)) {
      if (["Node Type", "Target", "Relation Name", "Alias", "Plans", "Redis Commands"].includes(name)) continue;
      fact(name, typeof value === "object" ? JSON.stringify(value) : String(value));
    }
    for (const command of one["Redis Commands"] || []) fact("Redis", command, "command");
    const item = make("li", {}, make("b", { textContent: one["Node Type"] }), " " + (one.Target || ""), facts);
    if (one.Plans) item.append(make("ul", {}, ...one.Plans.map(node)));
    return item;
  };
  box.append(make("ul", { className: "plan" }, ...plan.map((one) => node(one.Plan))));
  return box;
}

async function showPlan(query, id, database) {
  $("plan-part").hidden = false;
  $("plan-text").textContent = query;
  $("plan").replaceChildren(make("p", { className: "none", textContent: "…" }));
  try {
    const result = await call("plan", { id, database });
    $("plan").replaceChildren(result.error ? make("p", { className: "error", textContent: result.error.message }) : planResult(result));
  } catch (error) { $("plan").replaceChildren(make("p", { className: "error", textContent: error.message })); }
  $("plan-part").scrollIntoView({ block: "nearest" });
}

function download(name, type, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const firstGrid = () => results.find((one) => one.columns.length);
const csvField = (value) => value === null ? "" : /[",\r\n]/.test(value) || value === "" ? '"' + value.replaceAll('"', '""') + '"' : value;
const asCsv = (grid) => [grid.columns, ...grid.rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
const asJson = (grid) => JSON.stringify(grid.rows.map((row) => Object.fromEntries(row.map((value, i) => [grid.columns[i], value !== null && NUMBERS.has(grid.types[i]) && Number.isSafeInteger(Number(value)) ? Number(value) : value]))), null, 2);

function chartResult() {
  const grid = firstGrid();
  const number = grid.types.findIndex((type, i) => NUMBERS.has(type) && (i > 0 || grid.types.length === 1));
  const at = number >= 0 ? number : grid.types.findIndex((type) => NUMBERS.has(type));
  if (at < 0) { $("outcome").textContent = "a chart needs a column of numbers"; return; }
  const name = grid.columns.findIndex((_, i) => i !== at);
  const chart = svg("svg", { class: "chart", role: "img" });
  $("results").prepend(make("div", { className: "result" }, make("p", { className: "none", textContent: grid.columns[at] + (name < 0 ? "" : " by " + grid.columns[name]) }), chart));
  barChart(chart, grid.rows.slice(0, 100).map((row, i) => ({ name: name < 0 ? String(i + 1) : String(row[name] ?? ""), value: Math.max(0, Number(row[at] ?? 0)) })));
}

// History stays in this browser tab: statements may hold data.
const past = JSON.parse(sessionStorage.getItem("history") || "[]");
function remember(sql) {
  const at = past.indexOf(sql);
  if (at >= 0) past.splice(at, 1);
  past.unshift(sql);
  past.splice(50);
  sessionStorage.setItem("history", JSON.stringify(past));
  showHistory();
}
function showHistory() {
  $("history").replaceChildren(...past.map((sql) => make("li", {}, make("button", { type: "button", title: sql, textContent: sql.replace(/\s+/g, " "), onclick: () => { $("sql").value = sql; $("sql").focus(); } }))));
}

// ---- completion

let chosen = 0;
const wordBefore = () => $("sql").value.slice(0, $("sql").selectionStart).match(/[\w.]+$/)?.[0] || "";
function complete() {
  const word = wordBefore(), list = $("completions");
  const found = word.length < 2 ? [] : words.filter((one) => one.toLowerCase().startsWith(word.toLowerCase()) && one.toLowerCase() !== word.toLowerCase()).slice(0, 8);
  chosen = 0;
  list.hidden = found.length === 0;
  list.replaceChildren(...found.map((one, i) => make("li", { textContent: one, role: "option", className: i === 0 ? "chosen" : "", onmousedown: (event) => { event.preventDefault(); chosen = i; accept(); } })));
}
function accept() {
  const item = $("completions").children[chosen], area = $("sql");
  if (!item) return;
  area.setRangeText(item.textContent + " ", area.selectionStart - wordBefore().length, area.selectionStart, "end");
  $("completions").hidden = true;
}
function keyInEditor(event) {
  const list = $("completions");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); list.hidden = true; return runSql(selectedSql(), false); }
  if (list.hidden) return;
  if (event.key === "Tab" || event.key === "Enter") { event.preventDefault(); accept(); }
  else if (event.key === "Escape") list.hidden = true;
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : list.children.length - 1)) % list.children.length;
    [...list.children].forEach((item, i) => item.className = i === chosen ? "chosen" : "");
  }
}

// ---- views

function askToken(message) {
  $("gate").hidden = false;
  $("gate-error").textContent = message;
  for (const view of document.querySelectorAll(".view")) view.hidden = true;
}
function show() {
  takeToken();
  if (!token) return askToken("");
  $("gate").hidden = true;
  const wanted = ["status", "tables", "console"].find((name) => location.hash === "#" + name) || "status";
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== "view-" + wanted;
  for (const link of document.querySelectorAll("nav a")) link.className = link.dataset.view === wanted ? "here" : "";
  if (wanted === "tables") showTables();
  stream();
}

$("gate-form").onsubmit = (event) => { event.preventDefault(); token = $("token").value.trim(); sessionStorage.setItem("token", token); $("token").value = ""; show(); };
$("tables-form").onsubmit = (event) => { event.preventDefault(); showTables(); };
$("login-form").onsubmit = connectConsole;
$("run").onclick = () => runSql(selectedSql(), false);
$("explain").onclick = () => runSql(selectedSql(), true);
$("cancel").onclick = () => call("cancel", { console: consoleName }).catch(() => {});
$("as-csv").onclick = () => download("result.csv", "text/csv", asCsv(firstGrid()));
$("as-json").onclick = () => download("result.json", "application/json", asJson(firstGrid()));
$("as-chart").onclick = chartResult;
$("sql").oninput = complete;
$("sql").onkeydown = keyInEditor;
$("sql").onblur = () => { $("completions").hidden = true; };
$("plan-close").onclick = () => { $("plan-part").hidden = true; };
$("theme").onclick = () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--back").trim() === "#151413";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", dark ? "light" : "dark");
};
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");
addEventListener("hashchange", show);
show();
