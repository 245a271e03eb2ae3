// Calls to Deno KV with a deadline. A KV that fails or does not answer becomes one failure of the error table, soon
// enough for a caller who waits; mistakes in our own arguments stay errors. Also commits to a KV on the network that
// take effect at most once.
import { AppError, failedWith } from "../core/errors.ts";
import { type Key, keys } from "./keys.ts";
import { pause } from "../core/pause.ts";

/** Milliseconds that a caller waits for KV. */
const KV_DEADLINE_MS = 3_000;
/** The longest wait, in milliseconds, before a file that another process has locked is tried again. */
const LOCKED_PAUSE_MS = 40;

/**
 * Reads one record. Under a key that is too long for KV, made of what somebody has typed, there is none. Errors:
 * `meter_unreachable`.
 */
export function kvGet<Value>(kv: Deno.Kv, key: Key<Value>): Promise<Deno.KvEntryMaybe<Value>> {
  return kvCall(() => kv.get<Value>(key)).catch((error: unknown) => {
    if (!isKeyTooLong(error)) throw error;
    return { key, value: null, versionstamp: null };
  });
}

/** Reads some records as they are at one moment. Errors: `meter_unreachable`. */
export function kvGetMany<Values extends readonly unknown[]>(
  kv: Deno.Kv,
  ...all: readonly [...{ [At in keyof Values]: Key<Values[At]> }]
): Promise<{ [At in keyof Values]: Deno.KvEntryMaybe<Values[At]> }> {
  return kvCall(() => kv.getMany<Values>(all));
}

/** The most keys that `getMany` takes. */
const READ_AT_ONCE = 10;

/** Any number of records of one kind, in the order of their keys here. Errors: `meter_unreachable`. */
export async function kvGetEach<Value>(
  kv: Deno.Kv,
  all: readonly Key<Value>[],
): Promise<Deno.KvEntryMaybe<Value>[]> {
  const found: Deno.KvEntryMaybe<Value>[] = [];
  for (let from = 0; from < all.length; from += READ_AT_ONCE) {
    found.push(...await kvGetMany<Value[]>(kv, ...all.slice(from, from + READ_AT_ONCE)));
  }
  return found;
}

function isKeyTooLong(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith("Key too large for read");
}

/**
 * Commits; false when a check failed. Errors: `storage_full`, with which KV can still be read; `meter_unreachable`,
 * after which the change may have been made.
 */
export async function kvCommit(atomic: Deno.AtomicOperation): Promise<boolean> {
  const result = await kvCall(() => commitOrFull(atomic), { message: IN_DOUBT });
  return result.ok;
}

const IN_DOUBT =
  "Look whether the change was made before you repeat it; the control plane did not confirm it";

/** Whether KV had no room for a change; it may still be readable. */
export function isKvFull(error: unknown): boolean {
  return failedWith(error, "storage_full");
}

async function commitOrFull(
  atomic: Deno.AtomicOperation,
): Promise<Deno.KvCommitResult | Deno.KvCommitError> {
  try {
    return await atomic.commit();
  } catch (error) {
    throw noRoom(error) ?? error;
  }
}

/** `storage_full` where KV's file had no room for a change; null for every other failure. */
export function noRoom(error: unknown): AppError | null {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("database or disk is full")) return new AppError("storage_full");
  // A quota or a limit of file sizes. The disk may also have failed after the write.
  return message.includes("disk I/O error") ? new AppError("storage_full", { message: IN_DOUBT }) : null;
}

/**
 * One page of the records under a prefix, from the key `from` on or after the key `after` where given. No page has ended at
 * one that is too long for KV, and none follows it. Errors: `meter_unreachable`.
 */
export function kvPage<Value>(
  kv: Deno.Kv,
  options:
    & { readonly prefix: Key<Value>; readonly limit: number }
    & ({ readonly after: string | null } | { readonly from: string }),
): Promise<Deno.KvEntry<Value>[]> {
  const { prefix, limit } = options;
  // Nothing sorts between a string and the same string followed by U+0000.
  const from = "from" in options ? options.from : options.after === null ? null : `${options.after}\0`;
  const selector = from === null ? { prefix } : { prefix, start: [...prefix, from] };
  return kvCall(async () => await Array.fromAsync(kv.list<Value>(selector, { limit }))).catch(
    (error: unknown) => {
      if (!isKeyTooLong(error)) throw error;
      return [];
    },
  );
}

/**
 * Runs `call` within the deadline, and again where the file was locked. Errors: `meter_unreachable`, and `AppError`s
 * of `call`.
 */
export async function kvCall<Value>(
  call: () => Promise<Value>,
  options: { readonly deadlineMs?: number; readonly message?: string } = {},
): Promise<Value> {
  const unreachable = () =>
    new AppError("meter_unreachable", options.message === undefined ? {} : { message: options.message });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late = false;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true;
      reject(unreachable());
    }, options.deadlineMs ?? KV_DEADLINE_MS);
  });
  const answer = withRetries(call, () => late);
  answer.catch(() => {});
  try {
    return await Promise.race([answer, deadline]);
  } catch (error) {
    if (isDamaged(error)) throw new AppError("meter_unreachable", { message: DAMAGED });
    throw isStoreFailure(error) ? unreachable() : error;
  } finally {
    clearTimeout(timer);
  }
}

const DAMAGED =
  "Have the operator restore the control plane from a backup; a part of its file is damaged, and no other try helps";

/** Whether a page of KV's file is not what it was; records on other pages can still be read. */
export function isDamaged(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("database disk image is malformed");
}

async function withRetries<Value>(call: () => Promise<Value>, isLate: () => boolean): Promise<Value> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (isLate() || !isLocked(error)) throw error;
      await pause(Math.random() * LOCKED_PAUSE_MS);
    }
  }
}

/** Whether another connection held the file. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && /database (table )?is locked/.test(error.message);
}

/** Deno KV throws `TypeError` both for a lost store and for a bad argument: only the message tells them apart. */
const argumentMistake =
  /too large|too many|cannot be empty|invalid (start|end|limit|cursor|key|consistency|batch)|keyspace|greater than|must be|expected|is not (a function|a constructor|iterable)|cannot read prop/i;

function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof AppError) return false;
  if (error instanceof TypeError) return !argumentMistake.test(error.message);
  return !(error instanceof RangeError || error instanceof ReferenceError || error instanceof SyntaxError ||
    error instanceof DOMException);
}

const PAGE_SIZE = 200;

/**
 * All records under a prefix, page by page; with `range` those from the key `from` to before the key `to`. Errors:
 * `meter_unreachable`.
 */
export async function* kvEntries<Value>(
  kv: Deno.Kv,
  prefix: Key<Value>,
  range: { readonly from: Key<Value>; readonly to: Key<Value> } | null = null,
): AsyncGenerator<Deno.KvEntry<Value>> {
  let start: Deno.KvKey | null = range?.from ?? null;
  for (;;) {
    const selector: Deno.KvListSelector = range !== null
      ? { start: start ?? range.from, end: range.to }
      : start === null
      ? { prefix }
      : { prefix, start };
    const page = await kvCall(() => Array.fromAsync(kv.list<Value>(selector, { limit: PAGE_SIZE })));
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    // Sorts directly after the last key: a key comes before all longer keys that begin with it.
    start = [...last.key, ""];
  }
}

/**
 * Milliseconds that a receipt is stored: far longer than anybody waits for the answer or the client repeats a commit.
 */
const RECEIPT_MS = 600_000;

/**
 * The same KV, with a receipt in each commit. Deno's client repeats a commit when the answer is lost: an unchecked
 * commit would run twice, and the copy of a checked one fails its own check. The receipt tells the copy from somebody
 * else's change.
 */
export function withReceipts(kv: Deno.Kv): Deno.Kv {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => receipted(kv, atomic());
  return kv;
}

function receipted(kv: Deno.Kv, operation: Deno.AtomicOperation): Deno.AtomicOperation {
  const key = keys.commitReceipt(crypto.randomUUID());
  operation.check({ key, versionstamp: null }).set(key, true, { expireIn: RECEIPT_MS });
  const commit = operation.commit.bind(operation);
  operation.commit = async () => {
    const result = await commit();
    if (result.ok) return result;
    const { versionstamp } = await kv.get(key);
    return versionstamp === null ? result : { ok: true, versionstamp };
  };
  return operation;
}
