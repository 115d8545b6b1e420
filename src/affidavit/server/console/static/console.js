"use strict";
// Text from data is only ever textContent; nothing here writes markup.
const $ = (id) => document.getElementById(id);
const body = document.body.dataset;
const csrf = document.querySelector("meta[name=csrf]").content;
const roles = body.roles.split(" ");
const holds = (role) => roles.includes(role) || roles.includes("admin");
const POLL_MS = 3000;
const SIGNS = { SUCCESS: "✓ ", FALLBACK: "◇ ", FAILED: "✗ ", CANCELLED: "✗ " };

// Controls and characters that steer the direction of text are shown as what they are.
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const visible = (said) => String(said).replace(STEERS, (char) =>
  "\u27e8U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u27e9");

function make(kind, said, classes) {
  const made = document.createElement(kind);
  if (said !== undefined && said !== null) { made.textContent = visible(said); made.dir = "auto"; }
  if (classes) { made.className = classes; }
  return made;
}
function word(said, state) {
  const made = make("span", (SIGNS[state] || "") + said, "word");
  made.dataset.word = state;
  return made;
}
function add(to, ...children) { to.append(...children); return to; }
function trouble(said) { $("trouble").textContent = visible(said); }

async function ask(path, payload) {
  const options = payload === undefined ? {} : {
    method: "POST",
    headers: { "X-CSRF-Token": csrf, "Content-Type": "application/json" },
    body: JSON.stringify(payload),
  };
  const answer = await fetch(path, options);
  if (answer.status === 401) { location.assign("/login"); throw new Error("logged out"); }
  const said = answer.status === 204 ? {} : await answer.json();
  if (!answer.ok) {
    throw new Error([said.detail || said.title || answer.status, said.hint].filter(Boolean).join(". "));
  }
  return said;
}
// A turn's answer is its run: the stream is left at once, and followed on the run's own page.
async function say(payload) {
  const leave = new AbortController();
  const answer = await fetch("/api/v1/chat", {
    method: "POST", signal: leave.signal, body: JSON.stringify(payload),
    headers: { "X-CSRF-Token": csrf, "Content-Type": "application/json" },
  });
  if (answer.status === 401) { location.assign("/login"); throw new Error("logged out"); }
  if (!answer.ok) {
    const said = await answer.json();
    throw new Error([said.detail || said.title, said.hint].filter(Boolean).join(". "));
  }
  const run = answer.headers.get("location").split("/").pop();
  leave.abort();
  location.assign("/runs/" + encodeURIComponent(run));
}
function listen(about) {
  $("say").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => say({ message: $("message").value, ...about() }));
  });
}
async function attempt(work) {
  try { await work(); trouble(""); } catch (error) { trouble(error.message); }
}
function press(button, work) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    await attempt(work);
    button.disabled = false;
  });
}
async function again(work) {
  await attempt(work);
  setTimeout(() => again(work), POLL_MS);
}

function pairs(value) {
  if (Array.isArray(value)) {
    return add(make("ul"), ...value.map((item) => add(make("li"), pairs(item))));
  }
  if (value !== null && typeof value === "object") {
    const list = make("dl", null, "pairs");
    for (const [name, item] of Object.entries(value)) {
      add(list, make("dt", name), add(make("dd"), pairs(item)));
    }
    return list;
  }
  return make("span", value === null ? "none" : value);
}

function runLine(run) {
  const line = make("li");
  const state = run.outcome || (run.paused ? "paused" : run.run_state);
  const link = make("a", run.question);
  link.href = "/runs/" + encodeURIComponent(run.run_id);
  return add(line, word(state, state), link, make("time", run.created_at));
}
let older = [];
let nextBefore = null;
async function listRuns() {
  const page = await ask("/api/v1/runs");
  const focused = document.activeElement && document.activeElement.href;
  $("runs").replaceChildren(...[...page.runs, ...older].map(runLine));
  $("runs").setAttribute("aria-busy", "false");
  $("empty").hidden = page.runs.length > 0;
  if (!older.length) { nextBefore = page.next_before; }
  $("older").hidden = nextBefore === null;
  for (const link of $("runs").querySelectorAll("a")) {
    if (link.href === focused) { link.focus(); }
  }
}
async function showRuns() {
  press($("older"), async () => {
    const page = await ask("/api/v1/runs?before=" + encodeURIComponent(nextBefore));
    older = older.concat(page.runs);
    nextBefore = page.next_before;
    await listRuns();
  });
  if (holds("operator")) {
    await attempt(async () => {
      const found = (await ask("/api/v1/incidents")).incidents;
      for (const name of found) {
        const option = make("option", name);
        option.value = name;
        $("incident").append(option);
        $("about").append(option.cloneNode(true));
      }
      $("start").hidden = found.length === 0;
    });
    $("start").addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(async () => {
        const run = await ask("/api/v1/runs", { incident: $("incident").value });
        location.assign("/runs/" + encodeURIComponent(run.run_id));
      });
    });
  }
  $("say").hidden = !holds("operator");
  listen(() => ($("about").value ? { incident: $("about").value } : {}));
  again(listRuns);
}

function eventLine(name, told) {
  const line = make("li", null, name);
  const what = make("div");
  if (name === "observation") {
    const count = told.evidence_status === "ERROR" ? told.error_code : told.count;
    add(what, make("p", told.tool + ": " + told.evidence_status + " " + (count ?? "")));
    add(what, add(make("ul"), ...told.facts.map((fact) => make("li", fact))));
  } else {
    add(what, make("p", told.says || told.question || told.outcome || told.failure_code || name));
  }
  return add(line, make("time", String(told.at || "").slice(11, 19)), what);
}
async function standing() {
  const run = await ask("/api/v1/runs/" + encodeURIComponent(body.run));
  const state = run.outcome || (run.paused ? "paused" : run.run_state);
  $("word").textContent = visible((SIGNS[state] || "") + state);
  $("word").dataset.word = state;
  $("question").textContent = visible(run.question);
  $("report").hidden = $("file").hidden = !run.affidavit;
  const since = run.standing || {};
  if (since.word) {
    const instead = since.superseded_by ? " In its place: run " + since.superseded_by + "." : "";
    $("notice").textContent = visible(since.word + " by " + since.by + ", " + since.at + ": " + since.reason
      + instead + " Do not rely on this answer.");
  }
  $("draft").hidden = !run.outcome || run.outcome === "SUCCESS" || !holds("draft-reader");
  $("cancel").hidden = Boolean(run.outcome) || !holds("operator");
  const said = run.reply || (run.result && run.result.conclusion);
  const answer = said ? said.text : (run.limitations.concat(run.fallback ? run.fallback.limitations : []))[0];
  $("answer").hidden = !run.outcome || !answer;
  $("answer").textContent = visible(answer || "");
  $("say").hidden = !run.outcome || !holds("operator");
}
async function showRun() {
  listen(() => ({ follows: body.run }));
  await attempt(standing);
  press($("cancel"), async () => {
    await ask("/api/v1/runs/" + encodeURIComponent(body.run) + "/cancel", {});
    $("notice").textContent = "Asked to cancel; the last event says whether it was in time.";
  });
  $("gates").addEventListener("toggle", () => attempt(async () => {
    const told = await ask("/api/v1/runs/" + encodeURIComponent(body.run) + "/timeline");
    $("timeline").replaceChildren(...told.lines.map((line) => add(make("li"),
      make("time", line.elapsed_ms + " ms"), add(make("div"), make("code", line.mark), make("p", line.says)))));
  }));
  let isRead = false;  // one reading, one record: also while the answer is on its way
  $("draft").addEventListener("toggle", () => attempt(async () => {
    if (!$("draft").open || isRead) { return; }
    isRead = true;
    let told = null;
    try {
      told = await ask("/api/v1/runs/" + encodeURIComponent(body.run) + "/draft");
    } finally {
      isRead = told !== null;
    }
    const whole = told.text === null ? [] : [{ mark: "no report", text: told.text, findings: told.findings }];
    $("sentences").replaceChildren(...[...whole, ...told.sentences].map((item) => add(make("li"),
      make("code", item.mark), add(make("div"), make("p", item.text), add(make("ul"), ...item.findings.map(
        (found) => make("li", found.code + ": " + found.means + " " + found.would_prove)))))));
  }));
  const source = new EventSource("/api/v1/runs/" + encodeURIComponent(body.run) + "/events");
  for (const name of ["run", "status", "observation", "done", "error"]) {
    source.addEventListener(name, (event) => {
      if (event.data === undefined) { return; }  // the connection's own error: it comes again
      $("events").append(eventLine(name, JSON.parse(event.data)));
      if (name === "done" || name === "error") { source.close(); attempt(standing); }
    });
  }
}

function waiting(item) {
  const sheet = make("section", null, "sheet");
  const link = make("a", "the run");
  link.href = "/runs/" + encodeURIComponent(item.run_id);
  add(sheet, make("h2", item.tool), pairs(item.page), add(make("p", null, "soft"), link,
    make("span", " asked " + item.asked_at + ", expires " + item.expires_at)));
  if (holds("approver") && !item.expired) {
    const acts = make("p", null, "acts");
    for (const [decision, says, classes] of [["approve", "Approve exactly this", ""], ["reject", "Reject", "danger"]]) {
      const button = make("button", says, classes);
      button.type = "button";
      press(button, async () => {
        await ask("/api/v1/approvals/" + [item.run_id, item.tool_call_id].map(encodeURIComponent).join("/"),
          { decision, action_digest: item.action_digest });
        acts.replaceChildren(make("span", decision === "approve" ? "Approved." : "Rejected."));
      });
      acts.append(button);
    }
    sheet.append(acts);
  }
  return sheet;
}
let shown = null;
async function listApprovals() {
  const found = (await ask("/api/v1/approvals")).approvals;
  const now = JSON.stringify(found);
  $("inbox").setAttribute("aria-busy", "false");
  if (now === shown) { return; }
  shown = now;
  $("inbox").replaceChildren(...found.map(waiting));
  $("empty").hidden = found.length > 0;
}

function showDrills() {
  if (!$("drill")) { return; }
  $("drill").addEventListener("submit", (event) => {
    event.preventDefault();
    $("notice").textContent = "The drill runs…";
    attempt(async () => {
      const done = await ask("/api/agent/run", { goal: "a drill from the console", fault: $("fault").value });
      $("drilled").replaceChildren(pairs(done));
    }).finally(() => { $("notice").textContent = ""; });
  });
}

async function showHealth() {
  const told = await ask("/api/v1/health");
  const figures = { "version": told.version, "runs under way": told.under_way, "runs due": told.due, "streams": told.streams, "dead letters": told.dead_letters };
  $("figures").replaceChildren(...Object.entries(figures).flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
  $("backends").replaceChildren(...told.back_ends.map((end) =>
    add(make("li"), word(end.status, end.status), make("span", end.name), make("span", end.says, "note"))));
  const { deliveries } = await ask("/api/v1/deliveries?state=dead");
  const now = JSON.stringify(deliveries);
  if (now !== shown) {
    shown = now;
    $("dead").replaceChildren(...deliveries.map(deadLetter));
    $("no-dead").hidden = deliveries.length > 0;
  }
  $("figures").setAttribute("aria-busy", "false");
}
function deadLetter(letter) {
  const run = make("a", letter.run_id);
  run.href = "/runs/" + encodeURIComponent(letter.run_id);
  const row = add(make("li"), word(letter.code || letter.state, "FAILED"), make("span", letter.kind + " for " + letter.destination), run,
    make("span", letter.attempts + " attempts, " + letter.created_at, "note"));
  if (holds("operator")) {
    const button = make("button", "Send again");
    press(button, async () => { await ask("/api/v1/deliveries/" + encodeURIComponent(letter.id) + "/resend", {}); await showHealth(); });
    row.append(button);
  }
  return row;
}

press($("logout"), async () => { await ask("/logout", {}); location.assign("/login"); });
const pages = { runs: showRuns, run: showRun, approvals: () => again(listApprovals), drills: showDrills, health: () => again(showHealth) };
pages[body.page]();
