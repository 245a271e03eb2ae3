// Whether a JSON object names a member twice: the parser keeps the last one without a word, other readers of the same
// text keep the first.

const QUOTE = 34;
const COLON = 58;
const OPEN = 123;
const CLOSE = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const BACKSLASH = 92;

/** `text` is a valid JSON object; `members` is how many the parser has found in it. Only the outermost one is looked at. */
export function repeatedMember(text: string, members: number): boolean {
  let depth = 0;
  let colons = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case OPEN:
      case OPEN_LIST:
        depth++;
        break;
      case CLOSE:
      case CLOSE_LIST:
        depth--;
        break;
      case COLON:
        if (depth === 1) colons++;
        break;
    }
  }
  return colons > members;
}

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1);; end = text.indexOf('"', end + 1)) {
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}
