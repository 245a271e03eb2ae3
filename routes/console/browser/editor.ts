/// <reference lib="dom" />
// The SQL editor over the page's text area: colours, completion from the schema, and what the text would cost. The
// text area stays the form's field, so that the page does the same with and without this script.
import { acceptCompletion, autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, SQLite } from "@codemirror/lang-sql";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** Milliseconds after the last key until the text is checked. */
const CHECK_MS = 400;

function open(field: HTMLTextAreaElement, form: HTMLFormElement): void {
  const kept = keptText(form);
  if (kept !== null) field.value = kept;
  const view = new EditorView({
    state: EditorState.create({ doc: field.value, extensions: extensionsOf(field, form) }),
  });
  field.hidden = true;
  field.after(view.dom);
  markFailure(view, field);
  watchOutcome(view);
  cancelButton(form);
  sayUnreached(form);
  fillFromSchema(view);
  if (field.dataset["focus"] !== undefined) view.focus();
  form.dataset["ready"] = "";
  if (kept !== null) form.dispatchEvent(new CustomEvent("sql:typed", { bubbles: true }));
}

/**
 * What was typed stays with this entry of the tab's history: whoever looks something up and comes back finds it again. The entry
 * has its name; the text is where a sign-out clears it.
 */
function keepText(field: HTMLTextAreaElement, form: HTMLFormElement): void {
  const { history, sessionStorage } = globalThis;
  // No `randomUUID`: a browser has that only where the page came over https, or from this machine.
  const name = history.state?.sql ?? `sql ${Date.now()} ${Math.random()}`;
  history.replaceState({ ...history.state, sql: name }, "");
  try {
    sessionStorage.setItem(name, JSON.stringify({ text: field.value, session: sessionOf(form) }));
  } catch {
    // The browser has no more room for this tab: nothing is better than what was typed before.
    sessionStorage.removeItem(name);
  }
}

/** Null where nothing was typed, or in another session. */
function keptText(form: HTMLFormElement): string | null {
  const kept = globalThis.sessionStorage.getItem(globalThis.history.state?.sql ?? "");
  const { text, session } = JSON.parse(kept ?? "{}");
  return typeof text === "string" && session === sessionOf(form) ? text : null;
}

function sessionOf(form: HTMLFormElement): string {
  return form.querySelector<HTMLInputElement>("[name=csrf]")?.value ?? "";
}

function extensionsOf(field: HTMLTextAreaElement, form: HTMLFormElement): Extension[] {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const checkSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      keepText(field, form);
      form.dispatchEvent(new CustomEvent("sql:typed", { bubbles: true }));
    }, CHECK_MS);
  };
  const run = () => {
    form.requestSubmit(form.querySelector<HTMLButtonElement>("button[value=run]"));
    return true;
  };
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    // What is not seen, or turns the order of what is, could show another statement than the one that runs.
    highlightSpecialChars({ addSpecialChars: /[\u202A-\u202C\u2068]/ }),
    highlightActiveLine(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    search({ top: true }),
    placeholder(field.placeholder),
    syntaxHighlighting(classHighlighter),
    sql({ dialect: SQLite, schema: schemaOf(field), upperCaseKeywords: true }),
    EditorView.contentAttributes.of({ "aria-label": "SQL", "aria-describedby": "sql-keys" }),
    EditorView.cspNonce.of(document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? ""),
    failureField,
    EditorView.domEventHandlers({ blur: () => keepText(field, form) }),
    keymap.of([
      { key: "Mod-Enter", run },
      // Tab takes a completion that is offered; otherwise it leaves the editor, as it leaves any field.
      { key: "Tab", run: acceptCompletion },
      ...completionKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
      { any: typeOver },
    ]),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      field.value = update.state.doc.toString();
      checkSoon();
    }),
  ];
}

/**
 * A letter in the place of selected text. Chromium would give it the colours of that text by a style, which the policy of
 * the page refuses.
 */
function typeOver(view: EditorView, event: KeyboardEvent): boolean {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  const { key, ctrlKey, altKey, metaKey, isComposing, keyCode } = event;
  // 229: an input method has the key, and may make another letter of it.
  const types = [...key].length === 1 && !ctrlKey && !altKey && !metaKey && !isComposing && keyCode !== 229;
  if (empty || !types) return false;
  const insert = () =>
    state.update(state.replaceSelection(key), { userEvent: "input.type", scrollIntoView: true });
  const handled = state.facet(EditorView.inputHandler).some((one) => one(view, from, to, key, insert));
  if (!handled) view.dispatch(insert());
  return true;
}

/** Tables with their columns, for completion. */
function schemaOf(field: HTMLTextAreaElement): Record<string, string[]> {
  return JSON.parse(field.dataset["schema"] ?? "{}");
}

/** A name in the list of tables goes to where the cursor is. */
function fillFromSchema(view: EditorView): void {
  document.addEventListener("dblclick", (event) => {
    const item = event.target instanceof Element ? event.target.closest("[data-insert]") : null;
    if (!(item instanceof HTMLElement)) return;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(item.dataset["insert"] ?? ""));
    view.focus();
  });
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const setFailure = StateEffect.define<Span | null>();
const failureMark = Decoration.mark({ class: "sql-failed" });

/** The mark stays until the text changes. */
const failureField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setFailure)) continue;
      const { value } = effect;
      return value === null ? Decoration.none : Decoration.set(failureMark.range(value.from, value.to));
    }
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (marks) => EditorView.decorations.from(marks),
});

function markFailure(view: EditorView, field: HTMLTextAreaElement): void {
  const { failedFrom, failedTo } = field.dataset;
  if (failedFrom === undefined || failedTo === undefined) return;
  markSpan(view, { from: Number(failedFrom), to: Number(failedTo) });
}

/** What is put in the place of an outcome says anew where the text is wrong, and is told to who does not see it come. */
function watchOutcome(view: EditorView): void {
  const place = document.getElementById("outcome")?.parentElement;
  if (!place) return;
  new MutationObserver(() => {
    const outcome = document.getElementById("outcome");
    if (!outcome || outcome.dataset["seen"] !== undefined) return;
    outcome.dataset["seen"] = "";
    sayWhatCame(outcome);
    const { failedFrom, failedTo } = outcome.dataset;
    markSpan(view, failedFrom === undefined ? null : { from: Number(failedFrom), to: Number(failedTo) });
  }).observe(place, { childList: true });
}

/** The heads of its cards and its notices; a failure is told without this. */
function sayWhatCame(outcome: HTMLElement): void {
  const heads = outcome.querySelectorAll("header > :is(h2, small), footer b, .notice:not([role=alert])");
  const told = document.getElementById("sql-came");
  if (told) told.textContent = [...heads].map(({ textContent }) => textContent?.trim()).join(", ");
}

/** The service stops a statement when nobody waits for it any more. */
function cancelButton(form: HTMLFormElement): void {
  form.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-act=cancel]") : null;
    if (button) form.dispatchEvent(new CustomEvent("htmx:abort", { bubbles: true }));
  });
}

/** What stands in the place of the outcome is of before: without an answer it goes, and the page says so. */
function sayUnreached(form: HTMLFormElement): void {
  const words = document.querySelector<HTMLTemplateElement>("#unreached");
  form.addEventListener("htmx:error", ({ target }) => {
    if (target !== form || !words) return;
    document.getElementById("outcome")?.replaceChildren(words.content.cloneNode(true));
  });
}

/** An empty span, as at the end of an unfinished statement, is marked by the character before it. */
function markSpan(view: EditorView, span: Span | null): void {
  if (span === null) return view.dispatch({ effects: setFailure.of(null) });
  const to = Math.min(span.to, view.state.doc.length);
  const from = Math.min(span.from, Math.max(0, to - 1));
  if (from < to) view.dispatch({ effects: setFailure.of({ from, to }), selection: { anchor: to } });
}

const field = document.querySelector<HTMLTextAreaElement>("textarea[data-editor]");
const form = field?.form;
if (field && form) open(field, form);
