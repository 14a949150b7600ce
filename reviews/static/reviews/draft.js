// What is typed is kept: at once in this browser, a moment later on the server, which then has it alone.

const PAUSE = 1_000;
const NAMES = ["action", "category", "note", "reason"];

const form = document.querySelector("form[data-draft]");
if (form) keepDraft(form, document.querySelector("form#draft"));

function keepDraft(form, restored) {
  const place = form.dataset.draft;
  const saved = form.querySelector("[data-saved]");
  // What the server has; a page that answers a submit shows more than it said before.
  let known = "bound" in form.dataset ? "" : typed();
  let saving = false;
  let over = false;
  let timer;

  function typed() {
    const data = new FormData(form);
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
      known = now;
      saved.hidden = false;
      if (typed() === known) localStorage.removeItem(place);
      else timer = setTimeout(save, PAUSE);
    } catch {
      // This browser has it. It goes again with the next word, or when the connection is back.
    } finally {
      saving = false;
    }
  }

  function changed() {
    if (over) return;
    localStorage.setItem(place, typed());
    saved.hidden = true;
    clearTimeout(timer);
    timer = setTimeout(saving ? changed : save, PAUSE);
  }

  function end() {
    over = true;
    clearTimeout(timer);
    localStorage.removeItem(place);
  }

  const kept = localStorage.getItem(place);
  if (kept !== null && kept !== typed() && !("bound" in form.dataset)) {
    fill(JSON.parse(kept));
    restored.hidden = false;
    restored.querySelector("[data-kept]").hidden = false;
  }
  if (kept !== null) save().then(() => kept === known && localStorage.removeItem(place));

  form.addEventListener("input", changed);
  form.addEventListener("desk:sent", end);
  restored.addEventListener("submit", end);
  addEventListener("online", save);
  addEventListener("pagehide", save);
}
