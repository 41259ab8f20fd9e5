// What is live in the pages: how far a run is, and what is wrong with an environment while it is written.
// Everything else works without it. What it shows is made by the server, or set as text.
"use strict";
(() => {
  const BETWEEN = 1500;
  const say = (words) => { document.getElementById("said").textContent = words; };

  // A run: each time that something happened, the parts of the page that show it are had anew.
  function follow(address) {
    const events = new EventSource(address);
    let waits = false, last = 0;
    const later = () => {
      if (waits) return;
      waits = true;
      setTimeout(async () => { waits = false; last = Date.now(); await renew(); }, Math.max(0, last + BETWEEN - Date.now()));
    };
    events.addEventListener("progress", later);
    events.addEventListener("end", async (event) => {
      events.close();
      await renew();
      say(`The run is ${JSON.parse(event.data).status}.`);
    });
  }

  async function renew() {
    let answer;
    try {
      answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
    } catch {
      return;
    }
    if (answer.redirected) return location.reload();
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = fresh.getElementById(part.id);
      // Whoever is in it with the keyboard stays there.
      if (now && !part.contains(document.activeElement)) part.replaceWith(document.adoptNode(now));
    }
    // What is there for the first time.
    for (const now of fresh.querySelectorAll("[data-live]")) {
      if (!document.getElementById(now.id)) document.getElementById("tasks")?.before(document.adoptNode(now));
    }
  }

  // An environment: checked when somebody stops to write.
  function watch(form) {
    let timer = 0, asking = null;
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 500);
    });
    async function ask() {
      asking?.abort();
      asking = new AbortController();
      const words = document.getElementById("found-words");
      try {
        const answer = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)), signal: asking.signal });
        const told = await answer.json();
        words.textContent = answer.ok ? told.words : [told.error, told.hint].filter(Boolean).join(" ");
        document.getElementById("found").replaceChildren(...(told.diagnostics ?? []).map(line));
      } catch (error) {
        if (error.name !== "AbortError") words.textContent = "The server does not answer.";
      }
    }
  }

  function line(found) {
    const make = (name, text, kind) => Object.assign(document.createElement(name), { textContent: text, className: kind ?? "" });
    const item = make("li", "", found.severity);
    const rest = make("span", "");
    rest.append(make("code", found.file.includes(".") ? `${found.file}:${found.place}` : found.file), " ", make("bdi", found.message));
    if (found.hint) rest.append(" ", make("bdi", found.hint, "quiet"));
    item.append(make("b", found.severity), " ", rest);
    return item;
  }

  const live = document.querySelector("[data-events]");
  if (live) follow(live.dataset.events);
  const form = document.querySelector("form[data-check]");
  if (form) watch(form);
})();
