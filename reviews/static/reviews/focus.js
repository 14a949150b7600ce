// Each step begins at what is wrong, or else at the item's heading.

const target =
  document.querySelector("main [role=alert]:not([hidden])") ?? document.querySelector("main h1");
target.tabIndex = -1;
// Whoever types already goes on: torn away, their letters would be keys.
if (document.activeElement === document.body) target.focus();
