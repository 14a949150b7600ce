// Lifts the veil in place, so that what is typed in the decision form stays where it is.

async function unveil(form) {
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
  if (!answer.ok) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  // Anything but the item's page (a log-in, say) has none of the parts: the browser shows it itself.
  if (!page.querySelector("#shown")) throw new Error("not the item's page");
  for (const part of document.querySelectorAll("[data-unveils]")) {
    const shown = page.querySelector(`[data-unveils="${part.dataset.unveils}"]`);
    if (shown) part.replaceWith(document.importNode(shown, true));
  }
  document.querySelector("#shown h2").focus();
}

const form = document.querySelector("form[data-veil]");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  unveil(form).catch(() => form.submit());
});
