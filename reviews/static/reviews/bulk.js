// Ticks all boxes of the page at once, and says how many are ticked.
const boxes = [...document.querySelectorAll("input[form=bulk][name=item]")];
const all = document.querySelector("#choose-all");
const count = document.querySelector("#bulk-count");

function tell() {
  count.textContent = `(${boxes.filter((box) => box.checked).length})`;
}

all.hidden = false;
all.addEventListener("click", () => {
  const every = boxes.every((box) => box.checked);
  for (const box of boxes) box.checked = !every;
  tell();
});
for (const box of boxes) box.addEventListener("change", tell);
tell();
