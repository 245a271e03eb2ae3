// What a script adds to the documentation: buttons that copy, hits while one types, and `/` to begin a search.

for (const figure of document.querySelectorAll("figure.code")) {
  const code = figure.querySelector("code");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await copy(code);
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  figure.append(button);
}

/** Browsers have a clipboard for scripts only under https and on the machine itself; elsewhere they copy what is selected. */
async function copy(code) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(code.textContent);
  getSelection().selectAllChildren(code);
  if (!document.execCommand("copy")) throw new DOMException("the browser copies nothing", "NotAllowedError");
}

const form = document.querySelector("form[role=search]");
const input = form.querySelector("input");
const hits = document.createElement("div");
hits.className = "quick-hits";
hits.hidden = true;
form.append(hits);

let asked = 0;
let timer;
input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(showHits, 150);
});

/** The page of hits has a list; its first entries are shown below the field. */
async function showHits() {
  const question = input.value.trim();
  const turn = asked += 1;
  if (question.length < 2) return hits.hidden = true;
  const answer = await fetch(`/docs?q=${encodeURIComponent(question)}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (turn !== asked) return;
  hits.replaceChildren(
    ...[...page.querySelectorAll("ol.hits > li")].slice(0, 6).map((one) => one.firstChild),
  );
  hits.hidden = hits.childElementCount === 0;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hits.hidden = true;
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) hits.hidden = true;
});

// The entry of the section that is being read is marked.
const entries = new Map(
  [...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]),
);
const watcher = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) {
    if (!isIntersecting) continue;
    for (const link of entries.values()) link.removeAttribute("aria-current");
    entries.get(target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-10% 0px -75% 0px" });
for (const id of entries.keys()) watcher.observe(document.getElementById(id));
