// The files of the spool: what each is called, and what an earlier process has left in them.
import { reasonOf } from "../../../core/attempt.ts";
import type { Log } from "../../../core/log.ts";
import type { LogValues } from "../../log_columns.ts";
import type { LeftInSpool, StoredPack } from "../../log/stored_pack.ts";
import { PackFile } from "./pack_file.ts";
import { readSpoolLine, type SpooledRows } from "./spool_lines.ts";

const NAME = /^(log|packs)-(\d{1,15})\.jsonl$/;

/** A file. */
export interface SpoolSegment {
  readonly number: number;
  readonly path: string;
  bytes: number;
  /** Those with rows here that are not in their table yet. */
  readonly databases: Set<string>;
  /** Null: it has lines. */
  readonly packs: PackFile | null;
}

/** One that nobody has read yet. */
export type LeftSegment = Pick<SpoolSegment, "number" | "path"> & { readonly hasPacks: boolean };

/** What is left of one database in one file. */
export type LeftRows = Omit<SpooledRows, "rows"> & LeftInSpool;

/** The path of a file of the spool. */
export function segmentPath(folder: string, kind: "log" | "packs", number: number): string {
  return `${folder}/${kind}-${number}.jsonl`;
}

/** In the order in which they were begun. */
export async function leftSegments(folder: string): Promise<LeftSegment[]> {
  const left: LeftSegment[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const [, kind, number] = NAME.exec(name) ?? [];
    if (number === undefined) continue;
    left.push({ number: Number(number), path: `${folder}/${name}`, hasPacks: kind === "packs" });
  }
  return left.sort((one, other) => one.number - other.number);
}

/** One that was read. */
interface ReadSegment {
  readonly segment: SpoolSegment;
  readonly rows: readonly LeftRows[];
}

/** Opens one that has packs, and reads one that has lines. Null, which a warning says: it cannot be read, and stays as it is. */
export async function readSegment(left: LeftSegment, log: Log): Promise<ReadSegment | null> {
  try {
    return await read(left, log);
  } catch (error) {
    log("warn", "log_rows_not_read", { reason: reasonOf(error) });
    return null;
  }
}

async function read({ number, path, hasPacks }: LeftSegment, log: Log): Promise<ReadSegment> {
  const packs = hasPacks ? PackFile.open(path, number, log) : null;
  const bytes = packs === null ? await Deno.readFile(path) : null;
  // A line that was cut off by the end of a process is none.
  const lines = bytes === null ? [] : new TextDecoder().decode(bytes).split("\n").flatMap(readSpoolLine);
  const found = new Map<string, LeftRows & { readonly rows: LogValues[]; readonly packs: StoredPack[] }>();
  const of = ({ databaseId, namespaceId }: Omit<SpooledRows, "rows">) => {
    const known = found.get(databaseId) ?? { databaseId, namespaceId, rows: [], packs: [], file: number };
    found.set(databaseId, known);
    return known;
  };
  for (const line of lines) of(line).rows.push(...line.rows);
  for (const owned of packs?.packs() ?? []) of(owned).packs.push(owned.pack);
  const databases = new Set(found.keys());
  return {
    segment: { number, path, bytes: (packs ?? bytes ?? []).length, databases, packs },
    rows: [...found.values()],
  };
}
