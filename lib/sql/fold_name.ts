// When two names in a schema are the same name.

/** The engine compares names without regard to the case of A to Z, and of no other letters. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
