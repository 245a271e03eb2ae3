// What this process changes in a KV that is its own: nobody else can change it, so who caches records learns of every change,
// also of one that its maker forgets to tell.

/** Called after a change of the record under `key`; `value` is undefined where it was deleted. */
export type KvListener = (key: Deno.KvKey, value: unknown) => void;

const listeners = new WeakMap<Deno.Kv, Set<KvListener>>();

/** The same KV, with its changes told to those who listen. Only for one that no other process writes. */
export function withChanges(kv: Deno.Kv): Deno.Kv {
  const own = new Set<KvListener>();
  listeners.set(kv, own);
  const tell: KvListener = (key, value) => {
    for (const listener of own) listener(key, value);
  };
  const [atomic, set, remove] = [kv.atomic.bind(kv), kv.set.bind(kv), kv.delete.bind(kv)];
  kv.atomic = () => telling(atomic(), tell);
  kv.set = (key, value, options) => set(key, value, options).finally(() => tell(key, value));
  kv.delete = (key) => remove(key).finally(() => tell(key, undefined));
  return kv;
}

/** Has `listener` called from now on; false where changes by others would not be told. */
export function listenToChanges(kv: Deno.Kv, listener: KvListener): boolean {
  return listeners.get(kv)?.add(listener) !== undefined;
}

/** Sums, maxima and minima are of numbers, which nobody caches. */
function telling(operation: Deno.AtomicOperation, tell: KvListener): Deno.AtomicOperation {
  const changed: (readonly [Deno.KvKey, unknown])[] = [];
  const [set, remove, mutate, commit] = [
    operation.set.bind(operation),
    operation.delete.bind(operation),
    operation.mutate.bind(operation),
    operation.commit.bind(operation),
  ];
  operation.set = (key, value, options) => {
    changed.push([key, value]);
    set(key, value, options);
    return operation;
  };
  operation.delete = (key) => {
    changed.push([key, undefined]);
    remove(key);
    return operation;
  };
  operation.mutate = (...mutations) => {
    for (const one of mutations) changed.push([one.key, "value" in one ? one.value : undefined]);
    mutate(...mutations);
    return operation;
  };
  operation.commit = async () => {
    try {
      return await commit();
    } finally {
      // Also after a failure: the change may have been made.
      for (const [key, value] of changed) tell(key, value);
    }
  };
  return operation;
}
