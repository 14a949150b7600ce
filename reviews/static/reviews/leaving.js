// A shared machine keeps nobody's text for the next person: gone at log-out, and when another logs in.

function clear(spared) {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("draft:") && !(spared && key.startsWith(spared))) localStorage.removeItem(key);
    }
  } catch {
    // A forbidden storage has kept nothing.
  }
}

clear(`draft:${document.body.dataset.user}:`);
document.querySelector("form[data-leaves]").addEventListener("submit", () => clear());
