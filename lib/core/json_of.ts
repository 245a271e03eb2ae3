// JSON that may be none: whoever has sent or written it is not trusted to.

/** The value of the text; undefined where it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
