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
  history.replaceState(null, "", location.pathname + "#" + (location.hash.match(/sql=.*/) ? "console&" + location.hash.match(/sql=.*/)[0] : "status"));
}
takeToken();

// A link carries a query, never a token: `#console&sql=…`. The query stands in the editor and does not run by itself.
function takeQuery() {
  const match = location.hash.match(/sql=([^&]*)/);
  if (!match) return;
  $("sql").value = decodeURIComponent(match[1]);
  history.replaceState(null, "", location.pathname + "#console");
}
async function copyLink() {
  const link = `${location.origin}${location.pathname}#console&sql=${encodeURIComponent(selectedSql())}`;
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    $("outcome").textContent = "the link is copied";
  } catch (error) { $("outcome").textContent = "the link is in the address bar"; }
}

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

const LONG = 200;  // characters that a cell shows
/// The text of a cell. A long one is cut, with a button that shows it all.
function cell(className, text) {
  const characters = text.length > LONG ? [...text] : [];
  if (characters.length <= LONG) return make("td", { className, textContent: text });
  const shown = make("span", { textContent: characters.slice(0, LONG).join("") + "…" });
  const button = make("button", { type: "button", className: "open", textContent: `all ${count(characters.length)}`, onclick: () => {
    const isOpen = button.textContent === "less";
    shown.textContent = isOpen ? characters.slice(0, LONG).join("") + "…" : text;
    button.textContent = isOpen ? `all ${count(characters.length)}` : "less";
  } });
  return make("td", { className }, shown, " ", button);
}

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
    if (name === "query" || name === "indexes") return cell("sql", value);
    return cell(isNumber[i] ? "number" : "", isNumber[i] && /^-?\d+$/.test(value) && name !== "pid" ? BigInt(value).toLocaleString("en") : value);
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

let consoleName = null, consoleDatabase = "", words = [], columnsOf = new Map(), results = [], pageRows = 100;
const KEYWORDS = "SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET HAVING DISTINCT JOIN LEFT RIGHT INNER ON USING AS AND OR NOT IN EXISTS BETWEEN LIKE IS NULL CASE WHEN THEN ELSE END INSERT INTO VALUES UPDATE SET DELETE RETURNING CREATE TABLE INDEX VIEW DROP ALTER EXPLAIN ANALYZE WITH UNION ALL INTERSECT EXCEPT ASC DESC COUNT SUM AVG MIN MAX".split(" ");
async function connectConsole(event) {
  event.preventDefault();
  $("login-error").textContent = "";
  try {
    const answer = await call("open", { role: $("role").value, password: $("password").value, database: $("database").value });
    if (answer.error) throw new Error(answer.error.message + (answer.error.hint ? "\n" + answer.error.hint : ""));
    consoleName = answer.console;
    consoleDatabase = $("database").value;
    $("outcome").textContent = answer.writes ? "" : "this token only reads";
    $("password").value = "";
    $("login-form").hidden = true;
    $("workbench").hidden = false;
    await loadCatalog();
    showHistory();
    $("sql").focus();
  } catch (error) { $("login-error").textContent = error.message; }
}

/// Reads the tables in a session of the page: the console's own session runs nothing but its user's statements.
async function loadCatalog() {
  const { columns: catalog } = await call("catalog", { database: consoleDatabase });
  const tables = new Map();
  for (const row of objects(catalog)) {
    if (!tables.has(row.name)) tables.set(row.name, []);
    tables.get(row.name).push(row);
  }
  columnsOf = new Map([...tables].map(([name, columns]) => [name, columns.map((one) => one.column)]));
  words = [...new Set([...columnsOf].flatMap(([name, columns]) => [name, ...columns])), ...KEYWORDS];
  const listed = (column) => make("li", { textContent: `${column.column} ${column.type}${column.key === "t" ? ", key" : ""}${column.index ? ", " + column.index : ""}` });
  $("schema").replaceChildren(...[...tables].filter(([name]) => !/^(redis|redquel)\./.test(name)).map(([name, columns]) => {
    const example = exampleOf(name, columns.map((one) => one.column));
    return make("details", {}, make("summary", { textContent: name }),
      make("button", { type: "button", className: "example", title: example, textContent: example.replace(/\s+/g, " "), onclick: () => edit(example) }),
      make("ul", {}, ...columns.map(listed)));
  }));
  if (tables.size === 0) $("schema").replaceChildren(make("p", { className: "none", textContent: "no tables yet" }));
}

/// A first query of a table. The rows of a table with a column `state` are counted by it; of others some are shown.
function exampleOf(name, columns) {
  const groups = ["queue", "state"].filter((one) => columns.includes(one));
  if (groups.includes("state")) return `SELECT ${groups.join(", ")}, count(*) FROM ${name} GROUP BY ${groups.join(", ")} ORDER BY count(*) DESC`;
  return `SELECT ${columns.length <= 8 ? columns.join(", ") : "*"} FROM ${name} LIMIT 20`;
}

function edit(sql) {
  $("sql").value = sql;
  $("sql").focus();
}

const isSelected = () => $("sql").selectionStart < $("sql").selectionEnd;
const selectedSql = () => isSelected() ? $("sql").value.slice($("sql").selectionStart, $("sql").selectionEnd) : $("sql").value;

/// Runs the selected text, or all of it. `prefix`: of EXPLAIN, whose tree is shown.
async function runSql(prefix = "") {
  const sql = selectedSql(), start = isSelected() ? $("sql").selectionStart : 0, whole = $("sql").value;
  if (!consoleName || !sql.trim() || $("run").disabled) return;
  remember(sql);
  const buttons = [$("run"), $("explain"), $("analyze")];
  for (const button of buttons) button.disabled = true;
  $("cancel").disabled = false;
  $("outcome").textContent = "runs …";
  try {
    const answer = await call("run", { console: consoleName, sql: prefix + sql });
    results = answer.results;
    const failed = results.some((one) => one.error);
    const place = { sql, start, whole, before: prefix.length };
    $("results").replaceChildren(...results.map((one) => prefix && !one.error ? planResult(one) : resultBox(one, place)));
    $("outcome").textContent = `${failed ? "failed" : results.map((one) => one.tag).join(", ")} in ${answer.milliseconds.toFixed(1)} ms`;
    if (!prefix && /\b(create|alter|drop|import)\b/i.test(sql)) loadCatalog().catch(() => {});  // Run does not wait for it
  } catch (error) {
    results = [];
    $("outcome").textContent = "";
    $("results").replaceChildren(make("p", { className: "error", textContent: error.message }));
    if (error.message === "the session has ended" || error.message === "there is no such console") disconnectConsole();
  }
  for (const button of buttons) button.disabled = false;
  $("cancel").disabled = true;
  const grid = !prefix && results.find((one) => one.columns.length);
  $("as-csv").disabled = $("as-json").disabled = $("as-chart").disabled = !grid;
}

function disconnectConsole() {
  consoleName = null;
  $("workbench").hidden = true;
  $("login-form").hidden = false;
  $("login-error").textContent = "The session has ended.";
}

/// Selects the word at which an error stands, and returns its line with the word marked.
function markError(position, place) {
  const at = [...place.sql].slice(0, position - 1 - place.before).join("").length;
  if (position <= place.before || at > place.sql.length) return "";
  const length = place.sql.slice(at).match(/^("[^"]*"|'[^']*'|[\w$]+|\S|$)/)?.[0].length || 0;
  if ($("sql").value === place.whole) {
    $("sql").focus();
    $("sql").setSelectionRange(place.start + at, place.start + at + length);
  }
  const first = place.sql.lastIndexOf("\n", at - 1) + 1, last = (place.sql + "\n").indexOf("\n", at);
  const number = place.sql.slice(0, at).split("\n").length;
  return make("p", { className: "place" }, `LINE ${number}: ${place.sql.slice(first, at)}`, make("mark", { textContent: place.sql.slice(at, at + length) || " " }), place.sql.slice(at + length, last));
}

/// How many of a result's rows are here.
function extent(result) {
  const here = count(result.rows.length);
  if (!result.more) return here;
  return result.whole ? `the first ${here} of ${count(result.count)} rows` : `the first ${here} of more than ${count(result.count)} rows`;
}

function resultBox(result, place) {
  const box = make("div", { className: "result" });
  for (const notice of result.notices) box.append(make("p", { className: "none", textContent: `${notice.severity}: ${notice.message}` }));
  if (result.error) {
    const { message, sqlstate, detail, hint, position } = result.error;
    box.append(make("p", { className: "error", textContent: `ERROR ${sqlstate}: ${message}${detail ? "\nDETAIL: " + detail : ""}${hint ? "\nHINT: " + hint : ""}` }));
    if (position) box.append(markError(Number(position), place));
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
    pages.replaceChildren(button("‹", page - 1), button("›", page + 1), `rows ${result.rows.length ? page * pageRows + 1 : 0}–${page * pageRows + rows.length} of ${extent(result)}`);
  };
  show();
  box.append(grid, pages);
  return box;
}

// Properties of a plan's node that its first line or its children show.
const IN_LINE = new Set(["Node Type", "Target", "Relation Name", "Alias", "Schema", "Plans", "Redis Commands", "Actual Rows", "Actual Loops", "Actual Startup Time", "Actual Total Time",
  "Startup Cost", "Total Cost", "Plan Rows", "Plan Width", "Commands Sent", "Actual Round Trips", "Bytes Sent", "Bytes Received"]);

/// The tree of a plan. After ANALYZE each node has its time, which includes those below it, and a bar for the share that is its own.
function planResult(result) {
  const box = make("div", { className: "result" });
  const plan = JSON.parse(result.rows.map((row) => row[0]).join("\n"));
  // PostgreSQL's times and rows are those of one loop.
  const timeOf = (one) => one["Actual Total Time"] === undefined ? undefined : one["Actual Total Time"] * Math.max(one["Actual Loops"], 1);
  const node = (one, whole) => {
    const facts = make("dl");
    const fact = (name, value, className = "") => facts.append(make("dt", { textContent: name }), make("dd", { textContent: value, className }));
    for (const [name, value] of Object.entries(one)) {
      if (!IN_LINE.has(name)) fact(name, Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value));
    }
    if (one["Total Cost"] !== undefined) fact("Expected", `${count(one["Plan Rows"])} rows in ${count(Math.round(one["Total Cost"]))} µs`);
    for (const command of one["Redis Commands"] || []) fact("Redis", command, "command");
    if (one["Commands Sent"]) fact("Sent", `${count(one["Commands Sent"])} commands in ${count(one["Actual Round Trips"])} round trips, ${bytes(one["Bytes Sent"])} out, ${bytes(one["Bytes Received"])} in`);
    const line = make("div", { className: "node" }, make("b", { textContent: one["Node Type"] }), " " + (one.Target || ""));
    if (one["Actual Loops"] === 0) line.append(make("span", { className: "run", textContent: "never executed" }));
    else if (one["Actual Loops"] !== undefined) {
      const rows = `${count(one["Actual Rows"])} rows${one["Actual Loops"] > 1 ? ` in each of ${count(one["Actual Loops"])} runs` : ""}`;
      line.append(make("span", { className: "run", textContent: timeOf(one) === undefined ? rows : `${timeOf(one).toFixed(2)} ms, ${rows}` }));
    }
    if (timeOf(one) !== undefined && whole > 0) {
      const below = (one.Plans || []).reduce((sum, child) => sum + (timeOf(child) || 0), 0);
      const share = Math.min(100, Math.max(0, 100 * (timeOf(one) - below) / whole));
      const bar = make("span", { className: "share", title: `${share.toFixed(0)} % of the time is this node's own` }, make("i"));
      bar.firstChild.style.width = share.toFixed(1) + "%";
      line.append(bar, make("span", { className: "percent", textContent: `${share.toFixed(0)} %` }));
    }
    const item = make("li", {}, line, facts);
    if (one.Plans) item.append(make("ul", {}, ...one.Plans.map((child) => node(child, whole))));
    return item;
  };
  box.append(make("ul", { className: "plan" }, ...plan.map((one) => node(one.Plan, one["Execution Time"] || timeOf(one.Plan) || 0))));
  const times = ["Planning Time", "Execution Time"].filter((name) => plan[0][name] !== undefined).map((name) => `${name}: ${plan[0][name].toFixed(2)} ms`);
  if (times.length) box.append(make("p", { className: "none", textContent: times.join(", ") }));
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
  $("history").replaceChildren(...past.map((sql) => make("li", {}, make("button", { type: "button", title: sql, textContent: sql.replace(/\s+/g, " "), onclick: () => edit(sql) }))));
}

// ---- completion

let chosen = 0;
const wordBefore = () => $("sql").value.slice(0, $("sql").selectionStart).match(/[\w.]+$/)?.[0] || "";
const bare = (name) => name.replaceAll('"', "").toLowerCase();

/// The columns of the table that `name` stands for in the statement: a table, or an alias of one.
function columnsBehind(name, sql) {
  const named = (one) => [...columnsOf.keys()].find((table) => bare(table) === bare(one));
  const KEYWORD = "as|join|on|where|left|right|inner|full|cross|natural|using|group|order|having|limit|offset|set|union|values|select";
  const ALIAS = new RegExp(`(?:\\b(?:from|join|update|into)\\s+|,\\s*)("?[\\w.]+"?)(?:\\s+(?:as\\s+)?(?!(?:${KEYWORD})\\b)("?\\w+"?))?`, "gi");
  for (const [, first, given] of sql.matchAll(ALIAS)) {
    const table = named(first);
    if (table && ((given && bare(given) === bare(name)) || bare(table).split(".").pop() === bare(name))) return columnsOf.get(table);
  }
  return columnsOf.get(named(name)) || [];
}

function complete() {
  const word = wordBefore(), list = $("completions"), dot = word.lastIndexOf(".");
  const behind = dot > 0 ? columnsBehind(word.slice(0, dot), $("sql").value).map((one) => word.slice(0, dot + 1) + one) : [];
  const candidates = behind.length > 0 ? behind : words;
  const found = word.length < 2 ? [] : candidates.filter((one) => bare(one).startsWith(bare(word)) && bare(one) !== bare(word)).slice(0, 8);
  chosen = 0;
  list.hidden = found.length === 0;
  list.replaceChildren(...found.map((one, i) => make("li", { textContent: one, role: "option", className: i === 0 ? "chosen" : "", onmousedown: (event) => { event.preventDefault(); chosen = i; accept(); } })));
  if (!list.hidden) placeCompletions(list);
}

/// Puts the list below the line of the cursor, within the editor: never over the buttons.
function placeCompletions(list) {
  const area = $("sql"), style = getComputedStyle(area);
  const lines = area.value.slice(0, area.selectionStart).split("\n");
  const height = parseFloat(style.lineHeight), padding = parseFloat(style.paddingTop);
  const below = padding + lines.length * height - area.scrollTop, room = area.clientHeight - below;
  const isAbove = room < list.offsetHeight;
  const top = isAbove ? below - height - list.offsetHeight - 2 : below + 2;
  const needed = isAbove && top < -area.getBoundingClientRect().top;
  list.style.top = `${needed ? below + 2 : top}px`;
  const column = make("canvas").getContext("2d");
  column.font = style.font;
  const left = padding + column.measureText(lines[lines.length - 1].slice(0, -wordBefore().length || undefined)).width - area.scrollLeft;
  list.style.left = `${Math.max(0, Math.min(left, area.clientWidth - list.offsetWidth))}px`;
}

function accept() {
  const item = $("completions").children[chosen], area = $("sql");
  if (!item) return;
  area.setRangeText(item.textContent + " ", area.selectionStart - wordBefore().length, area.selectionStart, "end");
  $("completions").hidden = true;
}
function keyInEditor(event) {
  const list = $("completions");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); list.hidden = true; return runSql(); }
  if (event.key === "Escape" && list.hidden && !$("cancel").disabled) return cancelRun();
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
  const wanted = ["status", "tables", "console"].find((name) => location.hash.split("&")[0] === "#" + name) || "status";
  takeQuery();
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== "view-" + wanted;
  for (const link of document.querySelectorAll("nav a")) link.className = link.dataset.view === wanted ? "here" : "";
  if (wanted === "tables") showTables();
  stream();
}

$("gate-form").onsubmit = (event) => { event.preventDefault(); token = $("token").value.trim(); sessionStorage.setItem("token", token); $("token").value = ""; show(); };
$("tables-form").onsubmit = (event) => { event.preventDefault(); showTables(); };
$("login-form").onsubmit = connectConsole;
const cancelRun = () => call("cancel", { console: consoleName }).catch(() => {});
$("run").onclick = () => runSql();
$("explain").onclick = () => runSql("EXPLAIN (FORMAT JSON) ");
$("analyze").onclick = () => runSql("EXPLAIN (ANALYZE, FORMAT JSON) ");
$("cancel").onclick = cancelRun;
$("link").onclick = copyLink;
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
