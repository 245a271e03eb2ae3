// Code of the pages as HTML with its words, strings, numbers and comments marked.
import bash from "@speed-highlight/core/languages/bash.js";
import js from "@speed-highlight/core/languages/js.js";
import json from "@speed-highlight/core/languages/json.js";
import sql from "@speed-highlight/core/languages/sql.js";
import { type ShjLanguageData, type ShjToken, tokenizeWith } from "@speed-highlight/core/tokenize";

/** Language of a block → its grammar. */
const languages: Readonly<Record<string, ShjLanguageData>> = {
  sh: grammarOf(bash),
  js: grammarOf(js),
  json: grammarOf(json),
  sql: grammarOf(sql),
};

/** Kind of a token → class in the style sheet; all others look like the text. */
const classes: Readonly<Partial<Record<ShjToken, string>>> = {
  kwd: "word",
  str: "string",
  num: "number",
  bool: "number",
  cmnt: "comment",
};

/** In commands a number is mostly a part of an address, and a word an option. */
const ofCommands: readonly string[] = ["string", "comment"];

/** Plain text where the language has no colours here. */
export function colouredCode(text: string, language: string): string {
  const grammar = languages[language];
  if (!grammar) return escapeHtml(text);
  let html = "";
  tokenizeWith(text, grammar, (part, token) => {
    const name = token && classes[token];
    const isShown = name !== undefined && (language !== "sh" || ofCommands.includes(name));
    html += isShown ? `<span class="${name}">${escapeHtml(part)}</span>` : escapeHtml(part);
  }, { languages });
  return html;
}

/**
 * Guarantee: the package's own grammars. Its types do not tell a member that is missing from one that is undefined.
 */
function grammarOf(grammar: object): ShjLanguageData {
  return grammar as ShjLanguageData;
}

/** For text and for values of attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
