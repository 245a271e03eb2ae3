// Text from a specification inside generated source: it can end no comment and no line.

/** One line of a comment. */
export function commentText(text: string): string {
  return text.replace(/[\s\u0085\u2028\u2029]+/g, " ").replaceAll("*/", "* /").trim();
}

/** The line above a member, with its end; empty where there is nothing to say. */
export function propertyDoc(text: string | undefined): string {
  return text === undefined || commentText(text) === "" ? "" : `  /** ${commentText(text)} */\n`;
}
