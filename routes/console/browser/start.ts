/// <reference lib="dom" />
// On every page. Pages work without it: it only makes them nicer.
import { copyButtons } from "./copy.ts";
import { localTimes } from "./times.ts";

copyButtons(document);
localTimes(document);
// What is swapped in gets the same.
document.addEventListener("htmx:after:swap", () => localTimes(document));
// What pages have kept of what somebody typed is not for whoever comes next.
document.addEventListener("submit", ({ target }) => {
  if (target instanceof HTMLFormElement && target.action.endsWith("/-/sign-out")) sessionStorage.clear();
});
