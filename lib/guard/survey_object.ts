// What the text of a JSON object says of its shape, before a parser builds anything of it. Linear, whatever the text.

const QUOTE = 34;
const COLON = 58;
const OPEN = 123;
const CLOSE = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const BACKSLASH = 92;

export interface Survey {
  /** Members of the outermost object, repeated ones counted each time. */
  readonly members: number;
  /** Objects and lists inside each other, the outermost one included. */
  readonly depth: number;
}

/** Right for text that is JSON; of other text it says something, and the parser refuses that anyway. */
export function surveyObject(text: string): Survey {
  let [depth, deepest, members] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case OPEN:
      case OPEN_LIST:
        depth++;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE:
      case CLOSE_LIST:
        depth--;
        break;
      case COLON:
        if (depth === 1) members++;
        break;
    }
  }
  return { members, depth: deepest };
}

/** The place of the quote that ends the string which begins at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}
