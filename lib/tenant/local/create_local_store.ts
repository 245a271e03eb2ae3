// Opens the embedded store: its folders, the bound of its memory and its first engine child.
import { type TransactionLimits, transactionLimits } from "../../core/limits_of_transactions.ts";
import { findParentTie, type ParentTie } from "../jail/start_jailed.ts";
import { ConfigError } from "../../core/errors.ts";
import { EngineCounts } from "./pool/engine_counts.ts";
import { roomBytesOf } from "./pool/home_children.ts";
import { KeyLookups } from "./lookups/key_lookups.ts";
import { findDescriptors, lookupBytesOf } from "./lookups/lookup_room.ts";
import { LogSpool } from "./log/log_spool.ts";
import { databasePath, type KnownByKv, openFolders, sizeOf } from "./files/tenant_paths.ts";
import { mostTempBytes } from "./pool/disk_room.ts";
import { ProgramFiles } from "./pool/program_files.ts";
import { prepareProgressFiles } from "./pool/progress_files.ts";
import { OpenTransactions } from "./transactions/open_transactions.ts";
import { Scheduler } from "./pool/scheduler.ts";
import { TransferRoom } from "../transfer/transfer_room.ts";
import { TransactionChildren } from "./transactions/transaction_children.ts";
import type { ArchiveSettings } from "../archive/archive_settings.ts";
import { LocalStore } from "./local_store.ts";
import type { LocalStoreSettings } from "./local_store_parts.ts";

/** What the embedded store is opened with. */
export interface LocalStoreOptions extends LocalStoreSettings, KnownByKv {
  readonly dataDirectory: string;
  /** The environment that Deno needs to start a child (`HOME`, `DENO_DIR`). */
  readonly engineEnvironment: Readonly<Record<string, string>>;
  /** MB that all children may hold together. Default: see `findEngineMemory`. */
  readonly engineMemoryMb?: number | null;
  /** MB of temporary files that a read may write. Default: no bound. */
  readonly engineTempMb?: number;
  readonly maxChildren?: number;
  /** Null: nothing is archived. */
  readonly archive?: ArchiveSettings | null;
  /** Tests set shorter times. */
  readonly transactions?: Partial<TransactionLimits>;
  /** Bytes of open files that each child for room keeps for later calls. Default: see `keepBytesOf`. */
  readonly keepBytes?: number;
  /** Bytes of connections for look-ups by key. Default: see `lookupBytesOf`. */
  readonly lookupBytes?: number;
  /** Tests set the portable one. */
  readonly parentTie?: ParentTie;
}

/**
 * Opens the store under `dataDirectory` (made if missing) and starts the first child. Throws `ConfigError` where the
 * memory of a child cannot be bounded, or the folders are not to be used.
 */
export async function createLocalStore(options: LocalStoreOptions): Promise<LocalStore> {
  const paths = await openFolders(options.dataDirectory, options);
  const memoryBytes = await findEngineMemory(options.engineMemoryMb ?? null);
  const tempBytes = () => mostTempBytes(paths.scratch, (options.engineTempMb ?? Infinity) * MB);
  const maxChildren = options.maxChildren ?? childrenFor(memoryBytes);
  const maxTransactionChildren = transactionChildrenFor(memoryBytes);
  await prepareProgressFiles(paths.run, maxChildren + maxTransactionChildren);
  const process = {
    tenantsDirectory: paths.tenants,
    runDirectory: paths.run,
    program: new ProgramFiles(),
    parentTie: options.parentTie ?? await findParentTie(),
    environment: { ...options.engineEnvironment, SQLITE_TMPDIR: paths.scratch },
    keepsLogs: Boolean(options.archive),
    clock: options.clock,
    log: options.log,
    counts: new EngineCounts(options.log),
  };
  const transactions = new OpenTransactions(
    new TransactionChildren({
      ...process,
      maxChildren: maxTransactionChildren,
      otherFiles: maxChildren,
      memoryBytes: memoryBytes * TRANSACTIONS_PART,
      tempBytes,
      statementMs: options.queryTimeoutMs,
    }),
    { ...transactionLimits, ...options.transactions },
  );
  const scheduler = new Scheduler({
    ...process,
    maxChildren,
    keepBytes: options.keepBytes ?? keepBytesOf(memoryBytes, maxChildren),
  });
  const transferRoom = new TransferRoom({
    folder: `${paths.tenants}/transfers`,
    environment: process.environment,
    parentTie: process.parentTie,
  });
  await transferRoom.clear();
  const spool = await LogSpool.open(paths.spool, options.log);
  const store = new LocalStore(options, {
    scheduler,
    spool,
    tenants: paths.tenants,
    scratch: paths.scratch,
    memoryBytes,
    tempBytes,
    transactions,
    transferRoom,
    lookups: options.keyLookups === false ? null : new KeyLookups(
      paths.tenants,
      options.clock,
      options.lookupBytes ?? lookupBytesOf(memoryBytes, await findDescriptors()),
    ),
  });
  const found = new Map<string, boolean>();
  for await (const { databaseId, namespaceId, ...left } of spool.readLeft()) {
    const isThere = found.get(databaseId) ?? await sizeOf(databasePath(paths.tenants, databaseId)) > 0;
    found.set(databaseId, isThere);
    if (isThere) store.lanes({ databaseId, namespaceId }).log.adopt(left);
    // Deleted meanwhile.
    else spool.settled(databaseId);
  }
  if (await scheduler.slots[0]?.child.reports()) {
    await openArchive(store, { ...options, tenants: paths.tenants, parentTie: process.parentTie });
    return store;
  }
  await store.close();
  throw new ConfigError(
    "Let engine processes start under a bound of memory; the first one ended or did not say what it holds",
  );
}

/** What archives is loaded where something is. */
async function openArchive(
  store: LocalStore,
  { archive, ...options }: LocalStoreOptions & { readonly tenants: string; readonly parentTie: ParentTie },
): Promise<void> {
  if (!archive) return;
  const { LocalArchive } = await import("./local_archive.ts");
  try {
    store.archive = await LocalArchive.open({ ...options, ...archive, store });
  } catch (error) {
    await store.close();
    throw error;
  }
}

const MB = 1024 * 1024;
/** The part of the memory that is for the children; the rest is for the service, the system and its cache of files. */
const PART = 0.6;
/** The least bound: with less, the children's programs leave no room for their work. */
const LEAST_BYTES = 512 * MB;

/** Bytes that a child holds when it has done little work. */
const CHILD_BYTES = 80 * MB;

/** Bytes of open files that all children may keep together. */
const KEPT_BYTES = 184 * MB;

// Deno opens these files only for a process with all permissions, so a shell reads them: it prints the limit of each
// control group that this process is in, the outermost last.
const LIMITS = 'group=$(sed -n "s/^0:://p" /proc/self/cgroup 2>/dev/null); while :; do ' +
  'cat "/sys/fs/cgroup$group/memory.max" 2>/dev/null; [ -z "$group" ] && break; group=${group%/*}; done; ' +
  "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; true";

/**
 * Finds how many bytes all children may hold together: the operator's setting (`givenMb`), or a part of the memory of this
 * machine or container. Throws `ConfigError` where the memory cannot be found.
 */
async function findEngineMemory(givenMb: number | null): Promise<number> {
  if (givenMb !== null) return givenMb * MB;
  try {
    const { total } = Deno.systemMemoryInfo();
    return Math.max(LEAST_BYTES, Math.floor(PART * Math.min(total, ...await groupLimits())));
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    throw new ConfigError(
      `Set ENGINE_MEMORY_MB to what engine processes may take together; finding out what there is failed (${reason})`,
    );
  }
}

/** The most children: two for each processor, but no more than fit in the memory. */
function childrenFor(memoryBytes: number): number {
  const wanted = Math.max(5, navigator.hardwareConcurrency * 2);
  return Math.max(5, Math.min(wanted, Math.floor(memoryBytes / CHILD_BYTES)));
}

/** The part of that memory which children with open transactions may hold. */
const TRANSACTIONS_PART = 1 / 4;

/** The most children for transactions: one for each processor, but no more than fit in their part of the memory. */
function transactionChildrenFor(memoryBytes: number): number {
  const wanted = Math.max(4, navigator.hardwareConcurrency);
  return Math.max(1, Math.min(wanted, Math.floor(memoryBytes * TRANSACTIONS_PART / CHILD_BYTES)));
}

/** Bytes of open files that a child for room keeps: of all children together a quarter of their memory, at most `KEPT_BYTES`. */
function keepBytesOf(memoryBytes: number, maxChildren: number): number {
  return roomBytesOf(Math.min(KEPT_BYTES, memoryBytes / 4), maxChildren);
}

async function groupLimits(): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const { stdout } = await new Deno.Command("sh", { args: ["-c", LIMITS], stdout: "piped", stderr: "null" })
    .output();
  // A group without a limit has the text `max`.
  return new TextDecoder().decode(stdout).split("\n").filter((line) => /^\d+$/.test(line)).map(Number);
}
