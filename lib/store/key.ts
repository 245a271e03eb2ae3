// The type of a KV key: what stands behind it is part of it.

declare const valueType: unique symbol;

/** A KV key with the type of its value. */
export type Key<Value> = Deno.KvKey & { readonly [valueType]?: Value };
