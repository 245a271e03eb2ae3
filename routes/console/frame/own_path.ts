// Where a page leads on that was told by a form or an address: inside the console, or to its beginning.

/** A path with its query, of printable characters: no second slash, no backslash, nothing that browsers read as one. */
const OWN_PATH = /^\/console(?:\/(?!\/)|[?#]|$)[!-~]*$/;
const BEGINNING = "/console";

/** The path, if it stays here; otherwise the beginning of the console. */
export function ownPath(text: string | undefined): string {
  if (text === undefined || !OWN_PATH.test(text) || text.includes("\\") || /^[^?#]*\/\//.test(text)) {
    return BEGINNING;
  }
  // What browsers make of it counts: dots and escapes must not lead out either.
  const { origin, pathname, search } = new URL(text, "http://console.invalid");
  const stays = origin === "http://console.invalid" && /^\/console(?:\/|$)/.test(pathname) &&
    !/%(?:2f|5c)/i.test(pathname);
  return stays ? pathname + search : BEGINNING;
}

/** The namespace whose page a path is; empty where it is none's. */
export function namespaceOf(path: string | undefined): string {
  return /^\/console\/([a-z][a-z0-9-]{0,40})(?:[/?]|$)/.exec(path ?? "")?.[1] ?? "";
}
