// Texts as cells of CSV (RFC 4180), also for those who open a file in a spreadsheet.

/**
 * What spreadsheets take for the beginning of a formula, also behind white space
 * (owasp.org/www-community/attacks/CSV_Injection).
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
/** Begins like one, and is a number. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Whether a spreadsheet would run the text. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMBER.test(text);
}

/**
 * A cell with this text: an empty one has quotes, because NULL is an empty cell. `safe`: what a spreadsheet would run has an
 * apostrophe before it.
 */
export function csvText(text: string, { safe }: { readonly safe: boolean }): string {
  const shown = safe && isFormula(text) ? `'${text}` : text;
  return /^$|[",\r\n]|^\s|\s$/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
