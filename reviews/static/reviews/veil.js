// Lifts the veil in place, so that what is typed in the decision form stays where it is.

const form = document.querySelector("form[data-veil]");

async function unveil() {
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  // Anything but the item's page, a log-in or an error, has none of the parts.
  if (!answer.ok || !page.querySelector("[data-unveils]")) throw new Error("not the item's page");
  for (const part of document.querySelectorAll("[data-unveils]")) {
    const shown = page.querySelector(`[data-unveils="${part.dataset.unveils}"]`);
    part.replaceWith(document.importNode(shown, true));
  }
  document.querySelector("#shown h2")?.focus();
}

let asking = false;
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (asking) return;
  asking = true;
  const failed = form.querySelector("[role=alert]");
  failed.hidden = true;
  await unveil().catch(() => (failed.hidden = false));
  asking = false;
});
