// The look-ups that children have run and proven to end, and where this process repeats them: on a connection to the
// file, or in a copy of it where there is no room for one more.
import type { Clock } from "../../../core/clock.ts";
import type {
  Lookup,
  LookupColumns,
  LookupConnection,
  LookupReader,
} from "../../../engine/lookup_connection.ts";
import type { LookupReads } from "../../../engine/rows_read/lookup_reads.ts";
import { FileImages } from "./file_images.ts";
import type { LookupCall } from "./lookup_call.ts";
import type { LookupLanes } from "./lookup_file.ts";
import { type OpenDatabase, OpenLookups } from "./open_lookups.ts";
import { databasePath } from "../files/tenant_paths.ts";

/** Look-ups of one database, databases of which any are known, and characters of all their texts. */
const MAX_LOOKUPS = 32;
const MAX_KNOWN = 20_000;
const MAX_CHARACTERS = 4_000_000;
/** Milliseconds in which a use is noted once: to note one moves an entry to the end of a map, which leaves garbage there. */
const USED_MS = 1_000;

/** What is known of one text. */
interface KnownText {
  readonly reads: LookupReads;
  /** The columns of its answers, once a copy of the file has told them. */
  columns: LookupColumns | null;
}

/** What is known of one database. */
interface Known extends OpenDatabase {
  /** By the texts that a child has proven. */
  readonly texts: Map<string, KnownText>;
  /** Characters of them. */
  characters: number;
  /** The lanes' `writeTurn` at which the file was found to be none that is copied. */
  noImageAt: number | null;
  usedMs: number;
}

/** A look-up that may be read here. */
export interface ReadyLookup {
  readonly connection: LookupReader;
  readonly lookup: Lookup;
  readonly reads: LookupReads;
  /** Where it is read: on a connection on which it was compiled before, or is compiled now, or in a copy of the file. */
  readonly from: "open" | "compiled" | "image";
}

/** The look-ups of a store. */
export class KnownLookups {
  /** The longest unused one first. */
  readonly #known = new Map<string, Known>();
  readonly #open: OpenLookups;
  /** Of all texts. */
  #characters = 0;
  #engine: { readonly Connection: typeof LookupConnection; readonly images: FileImages } | null = null;
  #loading = false;
  #closed = false;

  /** `tenants`: the folder of the databases' files. `maxBytes`: of all connections together. */
  constructor(private readonly tenants: string, private readonly clock: Clock, maxBytes: number) {
    this.#open = new OpenLookups(tenants, clock, maxBytes);
  }

  /** Notes that a child has run the call and proven that it ends. `isVariant`: its text has a value in it. */
  learn(
    databaseId: string,
    { schemaVersion, sql }: LookupCall,
    { reads, isVariant }: { readonly reads: LookupReads; readonly isVariant: boolean },
  ): void {
    if (this.#closed) return;
    let known = this.#known.get(databaseId);
    const isFull = known && known.texts.size >= MAX_LOOKUPS && !known.texts.has(sql);
    const isCurrent = known?.schemaVersion === schemaVersion;
    // There may be a hundred of one text, and each would take the place of others.
    if (isFull && isCurrent && isVariant) return;
    // A connection with many statements is closed, which frees all of them.
    if (known && (!isCurrent || isFull)) {
      this.close(databaseId);
      known = undefined;
    }
    known ??= {
      schemaVersion,
      texts: new Map(),
      open: null,
      noImageAt: null,
      characters: 0,
      usedMs: -Infinity,
    };
    this.#use(databaseId, known, this.clock.monotonicMs());
    if (!known.texts.has(sql)) this.#add(known, sql, reads);
    if (this.#engine === null && !this.#loading) void this.#load();
  }

  /** Whether a database is open here. */
  isOpen(databaseId: string): boolean {
    return (this.#known.get(databaseId)?.open ?? null) !== null;
  }

  /** What the call reads, where it is a look-up that may be read here; else null. */
  readsOf(databaseId: string, call: LookupCall, lanes: LookupLanes): LookupReads | null {
    const known = this.#find(databaseId, call);
    if (known === null) return null;
    const { sql } = call;
    const mayRead = known.open?.lookups.has(sql) === true || this.#open.mayCompile(known) ||
      mayHaveImage(known, lanes);
    return mayRead ? known.texts.get(sql)?.reads ?? null : null;
  }

  /**
   * The look-up of a call, compiled, in a transaction; null where a child has to run it. `endTurn` has to be called after it.
   * `nowMs`: by the monotonic clock. Throws what the engine or the file system throws.
   */
  ready(
    databaseId: string,
    call: LookupCall,
    lanes: LookupLanes,
    { nowMs, images }: { readonly nowMs: number; readonly images: boolean },
  ): ReadyLookup | null {
    const known = this.#find(databaseId, call);
    if (known === null || this.#engine === null) return null;
    const { sql } = call;
    const text = known.texts.get(sql);
    if (text === undefined) return null;
    const { open } = known;
    const { reads } = text;
    const compiled = open?.lookups.get(sql);
    if (open && compiled) {
      if (this.#open.begin(open, lanes, nowMs)) {
        return { connection: open.connection, lookup: compiled, reads, from: "open" };
      }
    } else if (this.#open.mayCompile(known)) {
      const lookup = this.#open.compile(this.#engine.Connection, { databaseId, database: known, sql }, lanes);
      if (lookup && known.open) {
        return { connection: known.open.connection, lookup, reads, from: "compiled" };
      }
    } else {
      return images && mayHaveImage(known, lanes)
        ? this.#fromImage(databaseId, known, { sql, text }, lanes)
        : null;
    }
    // The file or its schema is another one.
    this.close(databaseId);
    return null;
  }

  /** Ends the transactions of databases whose write slot is taken. */
  endTurn(): void {
    this.#open.endTurn();
  }

  /** Notes that a database was read at `nowMs`, by the monotonic clock. */
  noteUse(databaseId: string, nowMs: number): void {
    const known = this.#known.get(databaseId);
    if (known) this.#use(databaseId, known, nowMs);
  }

  /** Closes a database and forgets it, because its file or its schema changes. */
  close(databaseId: string): void {
    const known = this.#known.get(databaseId);
    if (known === undefined) return;
    this.#known.delete(databaseId);
    this.#characters -= known.characters;
    this.#open.close(databaseId, known);
  }

  /** Closes what has not been used for a while. */
  sweep(): void {
    this.#open.sweep();
  }

  closeAll(): void {
    this.#closed = true;
    this.#known.clear();
    this.#open.closeAll();
    this.#engine?.images.connection.close();
    this.#engine = null;
  }

  #find(databaseId: string, { schemaVersion, sql }: LookupCall): Known | null {
    const known = this.#known.get(databaseId);
    if (known === undefined || this.#engine === null) return null;
    return known.schemaVersion === schemaVersion && known.texts.has(sql) ? known : null;
  }

  #fromImage(
    databaseId: string,
    known: Known,
    { sql, text }: { readonly sql: string; readonly text: KnownText },
    lanes: LookupLanes,
  ): ReadyLookup | null {
    if (this.#engine === null) return null;
    const { images } = this.#engine;
    const { schemaVersion } = known;
    const { columns, reads } = text;
    const lookup = images.compile(databasePath(this.tenants, databaseId), sql, { schemaVersion, columns });
    if (lookup === null) known.noImageAt = lanes.writeTurn;
    else if (columns === null) text.columns = lookup.columns;
    return lookup && { connection: images.connection, lookup, reads, from: "image" };
  }

  /** The texts that are known longest unused give way. */
  #add(known: Known, sql: string, reads: LookupReads): void {
    known.texts.set(sql, { reads, columns: null });
    known.characters += sql.length;
    this.#characters += sql.length;
    for (const databaseId of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN && this.#characters <= MAX_CHARACTERS) return;
      this.close(databaseId);
    }
  }

  /** Loaded when it is first needed: a start has no use for the engine. */
  async #load(): Promise<void> {
    this.#loading = true;
    try {
      const { LookupConnection, LookupImages } = await import("../../../engine/lookup_connection.ts");
      if (this.#closed) return;
      this.#engine = { Connection: LookupConnection, images: new FileImages(new LookupImages()) };
    } finally {
      this.#loading = false;
    }
  }

  #use(databaseId: string, known: Known, nowMs: number): void {
    if (nowMs - known.usedMs < USED_MS) return;
    known.usedMs = nowMs;
    this.#known.delete(databaseId);
    this.#known.set(databaseId, known);
    this.#open.use(databaseId, known);
  }
}

/**
 * Whether the file may be one that is copied: nobody has its write slot, or has had it since it was found to be none. One that
 * is open here is not: reading its index would end the lock that keeps others from cutting off the index under the connection.
 */
function mayHaveImage({ open, noImageAt }: Known, { writeTurn }: LookupLanes): boolean {
  return open === null && writeTurn !== null && writeTurn !== noImageAt;
}
