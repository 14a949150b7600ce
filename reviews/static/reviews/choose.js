// Ticks all boxes of a form at once, and says how many are ticked.
for (const button of document.querySelectorAll("[data-choose-all]")) offer(button);

function offer(button) {
  const boxes = [...button.form.elements].filter((field) => field.type === "checkbox");
  const count = button.form.querySelector("[data-chosen]");

  function tell() {
    count.textContent = `(${boxes.filter((box) => box.checked).length})`;
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    const every = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !every;
    tell();
  });
  for (const box of boxes) box.addEventListener("change", tell);
  tell();
}
