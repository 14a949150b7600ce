// A decision goes out without leaving the page, so that a lost connection takes no text with it.
// Sent twice it is one decision: the server knows the same words of the same person.

const PATIENCE = 15_000;
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;

const form = document.querySelector("form[data-draft]");
if (form) sendFrom(form, form.querySelector("[data-unsent]"));

function sendFrom(form, unsent) {
  let sending = false;
  let pause = FIRST_PAUSE;
  let timer;
  let pressed;

  async function send() {
    if (sending) return;
    sending = true;
    clearTimeout(timer);
    try {
      const answer = await fetch(form.getAttribute("action") || location.href, {
        method: "POST",
        body: new FormData(form, pressed),
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
    sendPlainly();
  }

  /** Nothing was decided: the browser shows the page that says why, be it a log-in. */
  function sendPlainly() {
    const name = document.createElement("input");
    Object.assign(name, { type: "hidden", name: pressed.name, value: pressed.value });
    form.append(name);
    form.submit();
  }

  function wait(because) {
    sending = false;
    for (const each of unsent.querySelectorAll("[data-because]")) {
      each.hidden = each.dataset.because !== because;
    }
    unsent.hidden = false;
    timer = setTimeout(send, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }

  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    if (sending) return;
    pressed = event.submitter ?? form.querySelector("button:not([type=button])");
    send();
  });
  unsent.querySelector("button").addEventListener("click", send);
  addEventListener("online", () => unsent.hidden || send());
  // Back to a page that was left by its decision: what it shows is over.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
