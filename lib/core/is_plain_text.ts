// What counts as text everywhere: in statements, parameters, inputs and descriptions.

/** The embedded engine ends text at U+0000, and half a surrogate pair is no character: no other store takes it. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}
