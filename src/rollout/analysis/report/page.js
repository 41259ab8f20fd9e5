
"use strict";
// Shows the rollouts whose data stands in this page. Whatever it shows becomes text, never markup; the one thing that is
// shown as a page goes into a frame in which nothing runs.
(() => {
  const SIGNS = { passed: "✓", failed: "✗", error: "!", unscored: "?", partly: "~" };
  const OUTCOMES = ["passed", "failed", "unscored", "error"];
  const AT_ONCE = 100;
  const overview = document.getElementById("overview");
  const one = document.getElementById("rollout");
  const heading = document.title;

  /** An element with attributes and children; children that are texts stay texts. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, String(value));
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }

  const amount = (value) => value.toLocaleString("en");
  const count = (value, noun) => `${amount(value)} ${noun}${value === 1 ? "" : "s"}`;
  const score = (value) => (value === null ? "–" : String(Math.floor(value * 1000) / 1000));
  const sign = (name) => make("span", { class: `sign ${name}`, "aria-hidden": "true" }, SIGNS[name]);
  const isolated = (text) => make("bdi", {}, text);

  function seconds(value) {
    if (value >= 90) return `${(value / 60).toFixed(1)} min`;
    if (value >= 1) return `${value.toFixed(1)} s`;
    return value < 0.001 ? "under 1 ms" : `${Math.round(value * 1000)} ms`;
  }

  /** A text of the page's data: whole, or its beginning and how much more there was. */
  function shown(text, kind) {
    const [words, left] = Array.isArray(text) ? text : [text, 0];
    const element = make("pre", { class: kind }, words);
    if (left) element.append(make("span", { class: "cut" }, `… ${count(left, "more character")} not in this page.`));
    return element;
  }

  /** A text, or the values of an object by their names. */
  function content(value) {
    if (!value.fields) return shown(value, "code");
    return make("dl", { class: "fields" }, value.fields.map(([name, each]) => [make("dt", {}, isolated(name)), make("dd", {}, shown(each, "code"))]));
  }

  const parts = (value) => value?.fields?.flat(1) ?? [value];

  // The data: rows are read at once, a transcript when it is opened.
  const rows = [...document.querySelectorAll("script.rows")].flatMap((block) => JSON.parse(block.textContent));
  rows.sort((a, b) => a.at - b.at);
  const places = new Map();
  for (const row of rows) {
    row.link = `${row.task}:${row.trial}`;
    if (places.has(row.link)) row.link += `~${row.at}`;
    places.set(row.link, row);
    row.words = [row.task, row.asked, row.why].join("\n").toLowerCase();
  }
  const severalTrials = rows.some((row) => row.trial > 0);
  const data = (row) => document.getElementById(`rollout-${row.at}`);

  // Which rollouts are shown: what the address says after “#”.
  const state = { q: "", task: "", mark: "", outcome: new Set(), sort: "", most: AT_ONCE };
  let found = rows;
  let current = null;

  function readAddress() {
    const said = new URLSearchParams(location.hash.slice(1));
    state.q = said.get("q") ?? "";
    state.task = said.get("task") ?? "";
    state.mark = said.get("primitive") ?? "";
    state.sort = said.get("sort") ?? "";
    state.outcome = new Set((said.get("outcome") ?? "").split(",").filter((each) => OUTCOMES.includes(each)));
    return said.get("rollout");
  }

  function address(rollout) {
    const said = new URLSearchParams();
    if (rollout) said.set("rollout", rollout);
    if (state.q) said.set("q", state.q);
    if (state.task) said.set("task", state.task);
    if (state.mark) said.set("primitive", state.mark);
    if (state.outcome.size) said.set("outcome", [...state.outcome].join(","));
    if (state.sort) said.set("sort", state.sort);
    return `#${said}`;
  }

  /** All texts of a transcript that somebody wrote, without the words that this page has for them. */
  function* said(told) {
    yield told.model;
    for (const each of [told, ...told.earlier, ...told.marks]) if (each.failure) yield each.failure.sentence;
    for (const { text, reasoning, notes, calls } of told.steps) {
      yield* [text, reasoning, ...(notes ?? [])];
      for (const call of calls ?? []) yield* [call.tool, ...parts(call.arguments), ...parts(call.result)];
    }
    for (const { name, type, reason, evidence } of told.marks) yield* [name, type, reason, ...parts(evidence)];
    for (const { path, before, after, lines } of told.changes.list) yield* [path, before, after, ...(lines ?? []).map(([, line]) => line)];
    yield told.state;
  }

  const haystacks = new Map();
  function haystack(row) {
    const block = data(row);
    const texts = block ? [...said(JSON.parse(block.textContent))] : [];
    return texts.map((text) => (Array.isArray(text) ? text[0] : (text ?? ""))).join("\n").toLowerCase();
  }

  function holds(row, q) {
    if (row.words.includes(q)) return true;
    if (!haystacks.has(row.at)) haystacks.set(row.at, haystack(row));
    return haystacks.get(row.at).includes(q);
  }

  const COLUMNS = [
    ["task", "Task", (row) => row.task],
    ["trial", "Trial", (row) => row.trial],
    ["outcome", "Outcome", (row) => OUTCOMES.indexOf(row.outcome)],
    ["score", "Score", (row) => row.score ?? -1],
    ["calls", "Calls", (row) => row.calls],
    ["tokens", "Tokens", (row) => row.tokens],
    ["seconds", "Time", (row) => row.seconds],
  ].filter(([name]) => (name !== "trial" || severalTrials) && (name !== "tokens" || rows.some((row) => row.tokens)));

  function order(list) {
    const down = state.sort.startsWith("-");
    const column = COLUMNS.find(([name]) => name === state.sort.replace("-", ""));
    if (!column) return list;
    const by = column[2];
    return [...list].sort((a, b) => {
      const [x, y] = down ? [by(b), by(a)] : [by(a), by(b)];
      return (typeof x === "string" ? x.localeCompare(y) : x - y) || a.at - b.at;
    });
  }

  function select(list) {
    const q = state.q.trim().toLowerCase();
    const [name, want] = state.mark ? JSON.parse(state.mark) : [];
    return list.filter(
      (row) =>
        (!state.outcome.size || state.outcome.has(row.outcome)) &&
        (!state.task || row.task === state.task) &&
        (!name || row.marks.some(([mark, came]) => mark === name && came === want)) &&
        (!q || holds(row, q)),
    );
  }

  // The table.
  let typing = 0;
  const search = make("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false", oninput: () => { clearTimeout(typing); typing = setTimeout(() => changed({ q: search.value }), 120); } });
  const tasks = [...new Set(rows.map((row) => row.task))].sort((a, b) => a.localeCompare(b));
  const taskChoice = choice(tasks.map((task) => [task, task]), (task) => changed({ task }));
  const marks = new Map();
  for (const row of rows) for (const [name, came] of row.marks) marks.set(JSON.stringify([name, came]), [name, came]);
  const markChoices = [...marks].sort((a, b) => a[0].localeCompare(b[0])).map(([value, [name, came]]) => [value, `${SIGNS[came]} ${name} (${came})`]);
  const markChoice = choice(markChoices, (mark) => changed({ mark }));
  const chips = OUTCOMES.filter((each) => rows.some((row) => row.outcome === each)).map((each) => {
    const toggle = () => {
      const outcome = new Set(state.outcome);
      if (!outcome.delete(each)) outcome.add(each);
      changed({ outcome });
    };
    const many = rows.filter((row) => row.outcome === each).length;
    return make("button", { type: "button", class: `chip ${each}`, "data-outcome": each, onclick: toggle },
      sign(each), ` ${each} `, make("span", { class: "amount" }, amount(many)));
  });
  const clear = make("button", { type: "button", onclick: () => changed({ q: "", task: "", mark: "", outcome: new Set() }) }, "Show all");
  const status = make("p", { class: "quiet", role: "status", id: "status" });
  const body = make("tbody");
  const heads = COLUMNS.map(([name, title]) =>
    make("th", { scope: "col", "data-column": name, class: name },
      make("button", { type: "button", onclick: () => changed({ sort: state.sort === name ? `-${name}` : state.sort === `-${name}` ? "" : name }) }, title)));
  const more = make("div", { class: "more" });

  function choice(options, choose) {
    const select = make("select", { onchange: () => choose(select.value) }, make("option", { value: "" }, "any"),
      options.map(([value, words]) => make("option", { value }, words)));
    return select;
  }

  function changed(change) {
    Object.assign(state, change, { most: AT_ONCE });
    history.replaceState(null, "", address(null));
    list();
  }

  function list() {
    found = order(select(rows));
    if (search.value !== state.q) search.value = state.q;
    taskChoice.value = state.task;
    markChoice.value = state.mark;
    for (const chip of chips) chip.setAttribute("aria-pressed", String(state.outcome.has(chip.dataset.outcome)));
    for (const head of heads) {
      const sorted = state.sort.replace("-", "") === head.dataset.column;
      if (sorted) head.setAttribute("aria-sort", state.sort.startsWith("-") ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const narrowed = found.length < rows.length;
    status.textContent = narrowed ? `${amount(found.length)} of ${count(rows.length, "rollout")}` : count(rows.length, "rollout");
    clear.hidden = !narrowed;
    body.replaceChildren(...found.slice(0, state.most).map(tableRow));
    if (!found.length) body.append(make("tr", {}, make("td", { colspan: COLUMNS.length + 1 }, rows.length ? "No rollout is so." : "No rollout is done.")));
    const left = found.length - state.most;
    more.replaceChildren();
    if (left > 0) {
      const next = () => {
        const before = state.most;
        state.most += AT_ONCE;
        list();
        body.children[before]?.querySelector("a").focus();
      };
      more.append(make("button", { type: "button", onclick: next }, `Show ${amount(Math.min(left, AT_ONCE))} more`), make("span", { class: "quiet" }, `${amount(left)} not shown`));
    }
  }

  function tableRow(row) {
    const cells = {
      trial: () => amount(row.trial),
      outcome: () => [sign(row.outcome), row.outcome, row.charged ? make("small", { class: "quiet" }, ` ${row.charged}`) : null],
      score: () => score(row.score),
      calls: () => [amount(row.calls), row.failed ? make("small", { class: "quiet" }, ` (${amount(row.failed)} failed)`) : null],
      tokens: () => amount(row.tokens),
      seconds: () => seconds(row.seconds),
    };
    const link = make("a", { href: address(row.link), "data-link": row.link }, isolated(row.task));
    return make("tr", {}, make("th", { scope: "row", class: "task" }, link),
      COLUMNS.slice(1).map(([name, title]) => make("td", { class: name, "data-name": name === "outcome" ? null : title.toLowerCase() }, cells[name]())),
      make("td", { class: "why" },
        make("span", { class: "asked" }, isolated(row.asked)),
        row.why ? make("span", { class: "because" }, isolated(row.why)) : null));
  }

  // One rollout.
  function open(row) {
    current = row.link;
    const at = found.indexOf(row);
    const step = (other, words, key) => other
      ? make("a", { class: "button", href: address(other.link), "aria-keyshortcuts": key, id: `go-${key}` }, words)
      : make("a", { class: "button", "aria-disabled": "true" }, words);
    const bar = make("nav", { class: "bar", "aria-label": "Rollouts" },
      make("a", { class: "button", href: address(null), id: "back" }, "← All rollouts"),
      step(at > 0 ? found[at - 1] : null, "Previous", "k"),
      step(at >= 0 ? found[at + 1] : null, "Next", "j"),
      at >= 0 ? make("span", { class: "quiet where" }, `${amount(at + 1)} of ${amount(found.length)}`) : null);
    const title = make("h1", { tabindex: "-1" }, isolated(row.task), row.trial || severalTrials ? make("span", { class: "quiet" }, ` trial ${row.trial}`) : null);
    const block = data(row);
    const told = block ? JSON.parse(block.textContent) : null;
    const head = make("header", { class: "head" }, title,
      make("div", { class: "line" },
        make("span", { class: `badge ${row.outcome}` }, make("span", { "aria-hidden": "true" }, SIGNS[row.outcome]), row.outcome),
        row.score === null ? null : make("span", {}, `score ${told ? told.score : score(row.score)}`, told && told.threshold !== "1" ? `, ${told.threshold} is needed` : ""),
        make("span", { class: "quiet" }, `${seconds(row.seconds)} without judging`),
        make("span", { class: "quiet" }, count(row.calls, "call")),
        told && told.usage ? make("span", { class: "quiet" }, told.usage) : null,
        told ? make("bdi", { class: "quiet" }, told.model) : null));
    one.replaceChildren(bar, make("article", { class: "one" }, head,
      told ? side(told) : null,
      make("div", { class: "talk" }, told ? talk(told) : make("p", { class: "notice" }, "The transcript of this rollout is left out, since the page would be too large for a browser."))));
    document.title = `${row.task} · ${heading}`;
    overview.hidden = true;
    one.hidden = false;
    scrollTo(0, 0);
    title.focus({ preventScroll: true });
  }

  function side(told) {
    return make("div", { class: "side" },
      section("Verdict", told.failure ? failure(told.failure) : null,
        told.marks.length ? make("div", { class: "marks" }, told.marks.map(mark)) : told.failure ? null : make("p", { class: "quiet" }, "Nothing was judged.")),
      told.page === null ? null : section("The page it ended on", frame(told.page)),
      section("What changed", changes(told.changes), make("details", {}, make("summary", {}, "The state at the end"), clip(shown(told.state, "code")))));
  }

  const section = (title, ...children) => make("section", { class: "card" }, make("h2", {}, title), ...children);
  const clip = (element) => make("div", { class: "clip", tabindex: "0" }, element);

  function failure(told) {
    return make("div", { class: "failure" }, make("p", { class: "quiet" }, `charged to the ${told.charged}`), shown(told.sentence, "words"));
  }

  function mark(told) {
    const value = told.value === null ? told.sign === "unscored" ? "unscored" : "not judged" : told.value;
    return make("div", { class: "mark" }, sign(told.sign),
      make("h3", {}, isolated(told.name), told.type === told.name ? null : make("small", { class: "quiet" }, " ", isolated(told.type))),
      make("span", { class: "value" }, value, told.weight === "1" ? null : make("span", { class: "quiet" }, ` ×${told.weight}`)),
      make("div", { class: "rest" }, shown(told.reason, "words"),
        told.failure ? make("p", { class: "quiet" }, `charged to the ${told.failure.charged}`) : null,
        told.usage ? make("p", { class: "quiet" }, `its judge used ${told.usage}`) : null,
        told.evidence === null ? null : make("details", {}, make("summary", {}, "What it rests on"), clip(content(told.evidence)))));
  }

  function changes(told) {
    if (told.note) return make("p", { class: "quiet" }, told.note);
    if (!told.list.length) return make("p", { class: "quiet" }, "The state is as it was.");
    const line = (kind, at, content) => make("div", { class: `row ${kind}` }, make("span", { class: "at" }, at), content);
    return [
      told.list.map((change) => make("div", { class: "change" }, make("h3", {}, isolated(change.path || "(all of it)")),
        make("div", { class: "diff clip", tabindex: "0" },
          change.lines
            ? change.lines.map(([at, words]) => line({ "+": "added", "-": "removed", "@": "place" }[at] ?? "", at === "-" ? "−" : at === "@" ? "" : at, make("pre", { class: "code" }, words)))
            : [change.before === undefined ? null : line("removed", "−", shown(change.before, "code")), change.after === undefined ? null : line("added", "+", shown(change.after, "code"))]))),
      told.left ? make("p", { class: "quiet" }, `${count(told.left, "more change")} not in this page.`) : null,
    ];
  }

  function talk(told) {
    return [
      told.earlier.length ? make("section", { class: "card" }, make("h2", {}, "Tried before"), told.earlier.map((each) => make("div", {}, failure(each.failure), make("p", { class: "quiet" }, `after ${seconds(each.seconds)}`)))) : null,
      told.steps.map((step) => make("section", { class: `step ${["assistant", "user", "system"].includes(step.role) ? step.role : "other"}` },
        make("h3", {}, isolated(step.role), (step.notes ?? []).map((note) => make("span", { class: "notes" }, isolated(note)))),
        step.reasoning ? make("details", {}, make("summary", {}, "What it thought"), clip(shown(step.reasoning, "words"))) : null,
        step.text.length ? shown(step.text, "words") : step.role === "assistant" && !(step.calls ?? []).length ? make("p", { class: "quiet" }, "(said nothing)") : null,
        (step.calls ?? []).map(call))),
      make("p", { class: "quiet" }, told.ending),
    ];
  }

  function call(told) {
    const words = { fine: null, failed: "failed", refused: "refused before it came to the tool", "not made": "not made" }[told.state];
    return make("div", { class: `call ${told.state}` },
      make("h4", {}, isolated(told.tool), words ? make("span", { class: "state" }, words) : null),
      told.arguments.fields ? clip(content(told.arguments)) : content(told.arguments),
      told.result === null ? null : make("div", { class: "result clip", tabindex: "0", role: "group", "aria-label": "result" }, content(told.result)));
  }

  // A frame without scripts, forms, links out or an origin, under the policy of this page.
  const policy = globalThis.trustedTypes?.createPolicy("rollout", { createHTML: (text) => text });
  const frameStyle = JSON.parse(document.getElementById("frame-style").textContent);
  function frame(html) {
    const page = `<!doctype html><meta charset="utf-8"><style>${frameStyle}</style><body>${html}`;
    const element = make("iframe", { sandbox: true, title: "The page it ended on", referrerpolicy: "no-referrer" });
    element.srcdoc = policy ? policy.createHTML(page) : page;
    return element;
  }

  // Which of the two is seen.
  function show() {
    const wanted = readAddress();
    list();
    const row = wanted === null ? null : places.get(wanted);
    if (row) return open(row);
    const from = one.hidden ? null : current;
    one.hidden = true;
    one.replaceChildren();
    overview.hidden = false;
    document.title = heading;
    if (from !== null) {
      const link = [...body.querySelectorAll("a")].find((each) => each.dataset.link === from);
      (link ?? document.getElementById("rollouts")).focus();
      (link ?? document.getElementById("rollouts")).scrollIntoView({ block: "center" });
    }
    if (wanted !== null) status.textContent = "There is no such rollout in this page.";
    return undefined;
  }

  document.getElementById("no-script").remove();
  document.getElementById("rollouts").append(
    make("div", { class: "filters", role: "search", "aria-label": "Rollouts" },
      make("label", { class: "text" }, "Find in all that was said", search),
      tasks.length > 1 ? make("label", {}, "Task", taskChoice) : null,
      markChoices.length > 1 ? make("label", {}, "Primitive", markChoice) : null,
      chips.length > 1 ? make("div", { class: "group", role: "group", "aria-label": "Outcome" }, chips) : null, clear),
    status,
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, heads, make("th", { scope: "col", class: "why" }, "What was asked, and why it did not pass"))), body)),
    more);
  for (const link of document.querySelectorAll("a[data-task], a[data-primitive]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const { task, primitive, sign } = link.dataset;
      changed({ task: task ?? "", mark: primitive ? JSON.stringify([primitive, sign]) : "", q: "", outcome: new Set() });
      document.getElementById("rollouts").scrollIntoView();
      search.focus({ preventScroll: true });
    });
  }
  document.querySelector("a.skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("rollouts").focus();
  });
  addEventListener("hashchange", show);
  addEventListener("keydown", (event) => {
    const writes = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && !one.hidden) location.hash = address(null);
    else if (event.key === "Escape" && event.target === search) changed({ q: "" });
    else if (writes) return;
    else if (event.key === "/") {
      event.preventDefault();
      if (!one.hidden) location.hash = address(null);
      search.focus();
    } else if (!one.hidden && (event.key === "j" || event.key === "k")) {
      const link = document.getElementById(`go-${event.key}`);
      if (!link?.hash) return;
      location.hash = link.hash;
      // The event of the new address comes later, and the next key may come before it.
      show();
    }
  });
  show();
})();
