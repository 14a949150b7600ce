// Keeps a batch's page up to date: asks for the parts that change, replaces those that did.
"use strict";

(() => {
  const root = document.querySelector("[data-poll]");
  const stale = document.getElementById("batch-stale");
  const usual = Number(root.dataset.seconds) * 1000;
  const longest = 60_000;
  let wait = usual;
  let tag = "";
  let timer = 0;

  const show = (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html");
    for (const part of fresh.querySelectorAll("[data-live]")) {
      const shown = document.getElementById(part.id);
      // The forms hold another token each time and perhaps what somebody types: they are compared
      // by the state that they belong to.
      const same = part.dataset.live
        ? part.dataset.live === shown.dataset.live
        : part.innerHTML === shown.innerHTML;
      if (!same) {
        shown.dataset.live = part.dataset.live;
        shown.replaceChildren(...part.childNodes);
      }
    }
  };

  const hasEnded = () =>
    ["done", "cancelled"].includes(document.getElementById("batch-actions").dataset.live);

  const ask = async () => {
    try {
      const answer = await fetch(root.dataset.poll, {
        headers: tag ? { "If-None-Match": tag } : {},
        redirect: "error", // to the log-in page
      });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        show(await answer.text());
      } else if (answer.status !== 304) {
        throw new Error(String(answer.status));
      }
      wait = usual;
      stale.hidden = true;
    } catch {
      wait = Math.min(wait * 2, longest);
      stale.hidden = false;
    }
    plan(wait);
  };

  const plan = (after) => {
    clearTimeout(timer);
    if (!hasEnded() && !document.hidden) {
      timer = setTimeout(ask, after);
    }
  };

  document.addEventListener("visibilitychange", () => plan(0));
  plan(usual);
})();
