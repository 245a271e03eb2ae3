// Counts the members and the depth in the text of JSON before it is parsed. It takes linear time for any text.

const QUOTE = 34;
const COLON = 58;
const OPEN = 123;
const CLOSE = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const BACKSLASH = 92;

/** What the text shows. */
export interface Survey {
  /** Members of the outermost object, repeated ones counted each time. */
  readonly members: number;
  /** Objects and lists inside each other, the outermost one included. */
  readonly depth: number;
}

/** Correct for text that is JSON. The parser refuses any other text later. */
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

/** Whether one of the objects in a text of JSON has more members than `most`. The parser refuses any other text later. */
export function hasWideObject(text: string, most: number): boolean {
  const outer: number[] = [];
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case OPEN:
        // In JSON an object stands behind the name of a member. Of any other text the list would grow with each character.
        if (outer.length > 0 && members === 0) return false;
        outer.push(members);
        members = 0;
        break;
      case CLOSE:
        members = outer.pop() ?? 0;
        break;
      case COLON:
        if (++members > most) return true;
        break;
    }
  }
  return false;
}

/** The index of the quote that ends the string beginning at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}
