// One change as followers see it, and the place of a change among all of its database.
import { hash } from "node:crypto";
import { isoTime } from "../../core/clock.ts";
import { type ChangeKind, type ChangePlace, namesOfKinds } from "../../sql/service/change_rows.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import { writtenTables } from "../../sql/grammar/written_tables.ts";

/** What one commit has changed. `reset`: changes are missing, or another state is there; what comes next follows it. */
export interface Change {
  /** `<epoch>-<seq>`. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly tables: readonly string[];
  readonly kinds: readonly (ChangeKind | "reset")[];
  readonly rows: number;
}

/** A change with its place. */
export interface PlacedChange {
  readonly place: ChangePlace;
  readonly change: Change;
}

/**
 * Before the first change of a database. Its rows do not tell its epoch yet, so its id does: each copy and each database that
 * takes the name of another has an id of its own, and its followers notice although nothing was ever written.
 */
export function beginningOf(databaseId: string): ChangePlace {
  return { seq: 0, epoch: Number.parseInt(hash("sha256", databaseId, "hex").slice(0, 12), 16) };
}

/** The beginning of every database, as earlier versions wrote it: it does not tell of which one. */
export function isFormerBeginning({ seq, epoch }: ChangePlace): boolean {
  return seq === 0 && epoch === 0;
}

/** A row of `_service_meta_change`. */
export type ChangeTuple = [
  seq: number,
  epoch: number,
  at: number,
  tables: string,
  kinds: number,
  rows: number,
];

/** The change that a row tells of, without tables of the service. */
export function changeOf([seq, epoch, at, tables, kinds, rows]: ChangeTuple): PlacedChange {
  const place = { seq, epoch };
  return {
    place,
    change: {
      id: idOfPlace(place),
      at: isoTime(at),
      tables: writtenTables(tables).filter((name) => !isReservedName(name)),
      kinds: namesOfKinds(kinds),
      rows,
    },
  };
}

/** Says that whatever was known before `place` has to be read anew. */
export function resetAt(place: ChangePlace, atMs: number): PlacedChange {
  const change = {
    id: idOfPlace(place),
    at: isoTime(atMs),
    tables: [],
    kinds: ["reset"],
    rows: 0,
  } as const;
  return { place, change };
}

/** Whether both are the place of one change. */
export function isSamePlace(one: ChangePlace, other: ChangePlace): boolean {
  return one.seq === other.seq && one.epoch === other.epoch;
}

/** The id of the change at a place. */
export function idOfPlace({ seq, epoch }: ChangePlace): string {
  return `${epoch}-${seq}`;
}

/** The place that an id names; null for what is no id. */
export function placeOfId(id: string): ChangePlace | null {
  const [, epoch, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return epoch === undefined || seq === undefined ? null : { seq: Number(seq), epoch: Number(epoch) };
}

/** Whether a follower of these tables is told; null: of all. */
export function concerns(
  { change: { tables, kinds } }: PlacedChange,
  wanted: ReadonlySet<string> | null,
): boolean {
  if (wanted === null || kinds.includes("reset") || kinds.includes("restore")) return true;
  return tables.some((table) => wanted.has(table.toLowerCase()));
}
