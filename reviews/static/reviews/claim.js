// How long the item is still one's own, counted down; and more time for whoever is active.
// All words come from the page or the server.

const EVERY = 60_000;

const place = document.querySelector("[data-claim]");
if (place) keep(place, document.querySelector("[data-claim-says]"));

function keep(place, status) {
  const left = place.querySelector("[data-left]");
  // The clock of the wall: it goes on while the machine sleeps, as the claim does.
  let ends = Date.now() + Number(place.dataset.seconds) * 1000;
  let beaten = Date.now();
  let active = false;
  let said = "";
  let warned = false;
  let over = false;

  for (const kind of ["keydown", "pointerdown", "pointermove", "scroll", "input"]) {
    addEventListener(kind, () => { active = true; }, { capture: true, passive: true });
  }

  function say(text) {
    if (text === said) return;
    said = text;
    status.replaceChildren();
    if (!text) return;
    const line = document.createElement("p");
    line.className = "notice critical";
    line.textContent = text;
    status.append(line);
  }

  async function beat() {
    beaten = Date.now();
    active = false;
    try {
      const body = new FormData();
      body.set("newest", place.dataset.newest);
      body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
      const answer = await fetch(place.dataset.claim, { method: "POST", body });
      if (!answer.ok) return;
      const { seconds, says } = await answer.json();
      ends = Date.now() + seconds * 1000;
      over = seconds === 0;
      warned = false;
      say(says);
    } catch {
      // No connection, or logged out: the claim runs on by itself, and the next beat tries again.
    }
  }

  function tick() {
    const seconds = Math.max(0, Math.round((ends - Date.now()) / 1000));
    const ended = seconds === 0 && !over;
    over ||= ended;
    left.textContent = clock(seconds);
    // What ended is asked about at once; whoever comes back to the page need not wait for the beat.
    if (ended || (active && Date.now() - beaten >= EVERY)) beat();
    else if (seconds <= 60 && !over && !warned) {
      warned = true;
      say(place.dataset.soon);
    }
  }

  tick();
  setInterval(tick, 1000);
}

function clock(seconds) {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, at) => (at ? String(part).padStart(2, "0") : part)).join(":");
}
