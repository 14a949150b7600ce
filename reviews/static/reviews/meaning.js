// Shows under the select what the chosen category means, in the policy's words.
const select = document.querySelector("#decision select[name=category]");
const shown = document.querySelector("#meaning");

function show() {
  const chosen = select.value && document.querySelector(`[data-category="${CSS.escape(select.value)}"]`);
  shown.hidden = !chosen;
  shown.replaceChildren(...(chosen ? chosen.cloneNode(true).childNodes : []));
}

if (select) {
  select.addEventListener("change", show);
  show();
}
