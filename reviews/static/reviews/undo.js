// Counts an offer to undo down and takes it away when its time is over.
for (const button of document.querySelectorAll("button.undo")) {
  const shown = button.querySelector(".num");
  const end = performance.now() + Number(button.dataset.seconds) * 1000;
  const timer = setInterval(() => {
    const left = Math.ceil((end - performance.now()) / 1000);
    if (left > 0) {
      shown.textContent = `(${left})`;
      return;
    }
    clearInterval(timer);
    // Whoever stood on it is not thrown back to the top of the page.
    if (document.activeElement === button) document.querySelector("h1")?.focus();
    button.form.remove();
  }, 250);
}
