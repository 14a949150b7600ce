// What is typed is kept: at once in this browser, a moment later on the server, which then has it alone.
// Each copy in the browser says on which of the server's it was written; a newer one there is not its own.

const PAUSE = 1_000;
const NAMES = ["action", "category", "note", "reason"];

const form = document.querySelector("form[data-draft]");
if (form) keepDraft(form, document.querySelector("form#draft"));

function keepDraft(form, restored) {
  const place = form.dataset.draft;
  const saved = form.querySelector("[data-saved]");
  const other = restored.querySelector("[data-other]");
  // What the page came with. Somebody quick has typed before this script was there.
  const given = typed(asGiven());
  // When the server kept what this page goes on from; blank for nothing.
  let since = form.dataset.since;
  // What the server has; a page that answers a submit shows more than it said before.
  let known = "bound" in form.dataset ? "" : given;
  let saving = false;
  let over = false;
  let timer;

  function asGiven() {
    const copy = form.cloneNode(true);
    copy.reset();
    return copy;
  }

  function typed(fields = form) {
    const data = new FormData(fields);
    return JSON.stringify(NAMES.map((name) => data.get(name) ?? ""));
  }

  function fill(values) {
    NAMES.forEach((name, at) => {
      const fields = form.querySelectorAll(`[name="${name}"]`);
      for (const each of fields) {
        if (each.type === "radio") each.checked = each.value === values[at];
        else each.value = values[at];
        each.dispatchEvent(new Event("change", { bubbles: true })); // for whoever shows more by it
      }
    });
  }

  /** What this browser kept, if anything that this script wrote. */
  function kept() {
    try {
      const { values, since } = JSON.parse(localStorage.getItem(place));
      return { values: JSON.stringify(values), since };
    } catch {
      return null;
    }
  }

  function keep() {
    try {
      localStorage.setItem(place, JSON.stringify({ values: JSON.parse(typed()), since }));
    } catch {
      // A full or forbidden storage: the server alone keeps it.
    }
  }

  function forget() {
    try {
      localStorage.removeItem(place);
    } catch {
      // As above.
    }
  }

  /** Other words of this browser, beside those that are shown. */
  function offer(values) {
    other.dataset.values = values;
    restored.hidden = other.hidden = false;
  }

  /** The words of this browser and those of the server change places. */
  function swap() {
    const here = typed();
    fill(JSON.parse(other.dataset.values));
    other.dataset.values = here;
    changed();
  }

  async function save() {
    clearTimeout(timer);
    const now = typed();
    if (over || now === known) return;
    saving = true;
    try {
      const answer = await fetch(restored.action, {
        method: "POST",
        body: new FormData(form),
        headers: { Accept: "application/json" },
        redirect: "manual",
        keepalive: true, // it goes on when the page is left
        signal: AbortSignal.timeout(15_000),
      });
      if (!answer.ok || over) return;
      ({ since } = await answer.json());
      known = now;
      saved.hidden = false;
      if (typed() === known) return forget();
      keep();
      timer = setTimeout(save, PAUSE);
    } catch {
      // This browser has it. It goes again with the next word, or when the connection is back.
    } finally {
      saving = false;
    }
  }

  function changed() {
    if (over) return;
    keep();
    saved.hidden = true;
    clearTimeout(timer);
    timer = setTimeout(saving ? changed : save, PAUSE);
  }

  function end() {
    over = true;
    clearTimeout(timer);
    forget();
  }

  const mine = kept();
  if (typed() !== given) {
    if (mine && mine.values !== typed()) offer(mine.values);
    changed();
  } else if (mine && "bound" in form.dataset) save();
  else if (mine && mine.values === typed()) forget();
  else if (mine && since && mine.since !== since) offer(mine.values);
  else if (mine) {
    fill(JSON.parse(mine.values));
    restored.hidden = restored.querySelector("[data-kept]").hidden = false;
    save();
  }

  form.addEventListener("input", changed);
  form.addEventListener("desk:sent", end);
  restored.addEventListener("submit", end);
  other.querySelector("button").addEventListener("click", swap);
  addEventListener("online", save);
  addEventListener("pagehide", save);
}
