// The `?` dialog lists what this page offers now, read from the page: it cannot be wrong.

const dialog = document.querySelector("#keys");
const list = dialog.querySelector(".keys");

function labelOf(element) {
  const named = element.labels?.[0] ?? element;
  const copy = named.cloneNode(true);
  copy.querySelectorAll("[aria-hidden=true], select, textarea").forEach((each) => each.remove());
  return element.ariaLabel || copy.textContent.trim();
}

function row(letter, label) {
  const key = document.createElement("dt");
  key.append(Object.assign(document.createElement("kbd"), { textContent: letter }));
  return [key, Object.assign(document.createElement("dd"), { textContent: label })];
}

function offered() {
  const first = new Map();
  for (const each of document.querySelectorAll("[data-key]")) {
    if (each.checkVisibility() && !each.disabled && !first.has(each.dataset.key)) {
      first.set(each.dataset.key, labelOf(each));
    }
  }
  return [...first];
}

document.querySelector("button[data-key='?']").addEventListener("click", () => {
  list?.replaceChildren(...offered().flatMap(([letter, label]) => row(letter, label)));
  const decides = dialog.querySelector("[data-decides]");
  if (decides) decides.hidden = !document.querySelector("form[data-draft]");
  dialog.showModal();
});
