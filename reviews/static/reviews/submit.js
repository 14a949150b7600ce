// A decision goes out without leaving the page, so that a lost connection takes no text with it.
// Sent twice it is one decision: the server knows the same words of the same person.
// Only what was submitted is ever sent again: who changes it must submit it anew.

const PATIENCE = 15_000;
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;

let submitted; // the last submit, as it stood then: nothing else goes out by itself
let sending = false;

async function send() {
  if (sending) return;
  sending = true;
  const { form, body } = submitted;
  clearTimeout(submitted.timer);
  try {
    const answer = await fetch(form.getAttribute("action") || location.href, {
      method: "POST",
      body,
      headers: { Accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (answer.status >= 500) return wait("failed");
    if (answer.ok && answer.headers.get("Content-Type") === "application/json") {
      const { to } = await answer.json();
      form.dispatchEvent(new Event("desk:sent"));
      return location.assign(to);
    }
  } catch {
    return wait(navigator.onLine ? "failed" : "offline");
  }
  if (submitted.changed) wait();
  else sendPlainly(submitted);
}

/** Nothing was decided: the browser shows the page that says why, be it a log-in. */
function sendPlainly({ form, pressed }) {
  const name = document.createElement("input");
  Object.assign(name, { type: "hidden", name: pressed.name, value: pressed.value });
  form.append(name);
  form.submit();
}

function wait(because) {
  sending = false;
  if (submitted.changed) return say(submitted.form, "changed");
  say(submitted.form, because);
  submitted.timer = setTimeout(send, submitted.pause);
  submitted.pause = Math.min(submitted.pause * 2, LONGEST_PAUSE);
}

/** What was submitted is not what the reviewer means any more. */
function giveUp() {
  clearTimeout(submitted.timer);
  submitted.changed = true;
  if (!sending) say(submitted.form, "changed");
}

function say(form, because) {
  const unsent = form.querySelector("[data-unsent]");
  for (const each of unsent.querySelectorAll("[data-because]")) {
    each.hidden = each.dataset.because !== because;
  }
  unsent.hidden = false;
}

function submit(form, pressed) {
  if (sending) return;
  if (submitted && submitted.form !== form) giveUp();
  clearTimeout(submitted?.timer);
  submitted = { form, pressed, body: new FormData(form, pressed), pause: FIRST_PAUSE };
  send();
}

for (const form of document.querySelectorAll("form[data-sends]")) {
  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    submit(form, event.submitter ?? form.querySelector("button:not([type=button])"));
  });
  for (const kind of ["input", "change"]) {
    form.addEventListener(kind, () => submitted?.form === form && giveUp());
  }
  form.querySelector("[data-unsent] button").addEventListener("click", () => {
    form.requestSubmit(submitted.form === form ? submitted.pressed : null);
  });
}

addEventListener("online", () => submitted && !submitted.changed && send());
// Back to a page that was left by its decision: what it shows is over.
addEventListener("pageshow", (event) => event.persisted && location.reload());
