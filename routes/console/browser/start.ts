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
// Reloaded, the page would send its form again and make a second token or link. From here on a reload opens the page of the
// form; without script the browser asks first.
if (document.querySelector("[data-shown-once]")) history.replaceState(null, "", location.href);
// Whoever comes back to the answer of a form, as to what a change would do, gets the page of the form, and no error of the
// browser. A reload is under way by now, and sends the form again once the browser has asked.
addEventListener("pagehide", () => history.replaceState(history.state, "", location.href));
// A form that has come back may stand far below on a narrow page.
if (!document.querySelector("[autofocus]")) {
  const wrong = document.querySelector<HTMLElement>("form .notice.bad");
  wrong?.setAttribute("tabindex", "-1");
  wrong?.focus();
}

/** How long a form waits for its answer: by then whoever sends it again means it. A download leaves the page as it is. */
const AWAITED_MS = 3_000;
const awaited = new Set<HTMLFormElement>();
// A double click would make two of what one form makes.
document.addEventListener("submit", (event) => {
  const { target: form, defaultPrevented } = event;
  if (!(form instanceof HTMLFormElement) || form.method !== "post" || defaultPrevented) return;
  if (awaited.has(form)) return event.preventDefault();
  awaited.add(form);
  setTimeout(() => awaited.delete(form), AWAITED_MS);
});
// Whoever comes back to the page finds every form ready.
addEventListener("pageshow", () => awaited.clear());
