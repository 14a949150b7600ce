// One letter presses whatever on the page carries it as `data-key`; the first one that can be seen wins.

const TYPED_IN =
  "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=submit], [type=button])";

/** The letter that was meant: its own, or on another script's layout the one on the same key. */
function letterOf(event) {
  if (event.key === "?" || event.key === "؟") return "?";
  if (event.shiftKey) return "";
  if (/^[a-z]$/i.test(event.key)) return event.key.toLowerCase();
  const foreign = /^\p{L}/u.test(event.key) && !/^\p{Script=Latin}/u.test(event.key);
  return (foreign && /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase()) || "";
}

function isCommand(event) {
  const held = event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph");
  const typing = event.isComposing || event.keyCode === 229 || event.target.closest?.(TYPED_IN);
  return !event.defaultPrevented && !event.repeat && !held && !typing && !document.querySelector("dialog[open]");
}

function press(element) {
  if (element.matches("form")) return element.requestSubmit();
  if (element.matches(TYPED_IN)) return element.focus();
  if (element.matches("input, summary")) element.focus();
  element.click();
}

/** The letter stands on what it presses. Drawn by the style sheet: it is no part of the name. */
function showLetter(element) {
  element.setAttribute("aria-keyshortcuts", element.dataset.key);
  const bearer = element.labels?.[0] ?? element;
  if (element.matches("form")) return;
  const letter = document.createElement("kbd");
  letter.dataset.letter = element.dataset.key;
  letter.ariaHidden = "true";
  bearer.append(letter);
}

document.querySelector("button[data-key='?']").hidden = false;

if (document.body.dataset.singleKeys === "on") {
  document.querySelectorAll("[data-key]").forEach(showLetter);
  document.addEventListener("keydown", (event) => {
    if (!isCommand(event)) return;
    const letter = letterOf(event);
    if (!letter) return;
    const found = [...document.querySelectorAll("[data-key]")].find(
      (each) => each.dataset.key === letter && each.checkVisibility() && !each.disabled,
    );
    if (!found) return;
    event.preventDefault();
    press(found);
  });
}

/** A select whose options are shown takes Enter itself. */
function isClosedSelect(element) {
  return element.matches("select") && !(CSS.supports("selector(:open)") && element.matches(":open"));
}

// Enter submits by itself from most fields; from a select and from within a text it needs help.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.repeat || event.defaultPrevented) return;
  const form = event.target.closest?.("form[data-sends]");
  if (!form || !(event.ctrlKey || event.metaKey || isClosedSelect(event.target))) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button[name=next]"));
});
