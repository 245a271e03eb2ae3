// Names in a generated client: each once, in the way TypeScript writes them.

/** What has a method `then` is taken for a promise: whoever awaits the client would wait for ever. */
const TAKEN = ["then"];

/** `get-order` → `getOrder`. Slugs that would meet get a number, and so does one that JavaScript would call. */
export class ClientNames {
  readonly #used = new Set<string>(TAKEN);

  method(slug: string): string {
    const base = slug.replace(
      /-+([a-z0-9])?/g,
      (_, letter: string | undefined) => (letter ?? "").toUpperCase(),
    );
    let name = base;
    for (let number = 2; this.#used.has(name.toLowerCase()); number++) name = `${base}_${number}`;
    this.#used.add(name.toLowerCase());
    return name;
  }
}

/** `getOrder` → `GetOrder`. */
export function typeName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}
