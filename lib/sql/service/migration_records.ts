// The records of migrations that a database has: how they are written, read and compared. Pure, and without the parser,
// which an engine child does not have.
import { sha256 } from "../../core/sha256.ts";
import type { SchemaChange } from "./branch_report.ts";
import { SHADOW_TABLES } from "../words/names.ts";
import { isReservedName } from "../words/service_tables.ts";
import type { SqlParameter } from "../words/sql_value.ts";
import { objectType } from "../schema/schema_shape.ts";

/** A statement of the service with its values. */
interface Own {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

/** One applied file. */
export interface MigrationRecord {
  readonly name: string;
  /** Of its normal text, hex. */
  readonly sha256: string;
  /** Unix milliseconds. */
  readonly appliedAt: number;
  readonly tokenId: string;
  /** Label of the snapshot before it, or before the first file that was applied together with it; null: there is none. */
  readonly snapshot: string | null;
  /** False: it was recorded only. */
  readonly ran: boolean;
}

const TABLE = "_service_meta_migration";
const NEWEST_OF = `SELECT applied_at || ' ' || sha256 || ' ' || name FROM ${TABLE} ORDER BY id DESC LIMIT 1`;

/** All records, oldest first, as `readRecords` takes them. */
export const RECORDS = `SELECT name, sha256, applied_at, token_id, snapshot, ran FROM ${TABLE} ORDER BY id`;
/** The objects that the schema had when the newest of them was applied, as `objectsText` has written them. */
export const RECORDED_OBJECTS = `SELECT objects FROM ${TABLE} ORDER BY id DESC LIMIT 1`;
/** The objects that it has now, for `objectsText`. */
export const OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL " +
  "AND name NOT LIKE 'libsql!_%' ESCAPE '!' AND name NOT IN " +
  `(${SHADOW_TABLES}) ORDER BY type, name`;

/** What tells the newest record from every other one; null: there is none. */
export function newestOf(records: readonly MigrationRecord[]): string | null {
  const last = records.at(-1);
  return last ? `${last.appliedAt} ${last.sha256} ${last.name}` : null;
}

/** Reads rows of `RECORDS`. */
export function readRecords(rows: readonly (readonly unknown[])[]): MigrationRecord[] {
  return rows.map(([name, digest, appliedAt, tokenId, snapshot, ran]) => ({
    name: String(name),
    sha256: String(digest),
    appliedAt: Number(appliedAt),
    tokenId: String(tokenId),
    snapshot: snapshot === null ? null : String(snapshot),
    ran: Number(ran) === 1,
  }));
}

/** Writes a record behind the newest one, `after`. It fails, because a name must not be null, where another is the newest. */
export function insertRecord(record: MigrationRecord, after: string | null): Own {
  const { name, sha256, appliedAt, tokenId, snapshot, ran } = record;
  return {
    sql: `INSERT INTO ${TABLE} (name, sha256, applied_at, token_id, snapshot, ran) ` +
      `SELECT CASE WHEN (${NEWEST_OF}) IS ? THEN ? END, ?, ?, ?, ?, ?`,
    params: [after, name, sha256, appliedAt, tokenId, snapshot, Number(ran)],
  };
}

/** Notes with the newest record what the schema consists of, and forgets what it consisted of before. */
export function noteObjects(objects: string): readonly Own[] {
  return [
    { sql: `UPDATE ${TABLE} SET objects = NULL WHERE objects IS NOT NULL`, params: [] },
    { sql: `UPDATE ${TABLE} SET objects = ? WHERE id = (SELECT max(id) FROM ${TABLE})`, params: [objects] },
  ];
}

/** Characters of a digest that are kept of each object. */
const DIGEST_LENGTH = 16;

type Objects = Readonly<Record<string, string>>;

/** The digest of each object of rows of `OBJECTS`, as JSON; what belongs to the service is left out. */
export function objectsText(rows: readonly (readonly unknown[])[]): string {
  const own = rows.filter(([, name, table]) =>
    !isReservedName(String(name)) && !isReservedName(String(table))
  );
  return JSON.stringify(Object.fromEntries(own.map(([type, name, table, sql]) => {
    const digest = sha256().update(`${table}\n${sql}`).digest("hex");
    return [`${type} ${name}`, digest.slice(0, DIGEST_LENGTH)];
  })));
}

/** What has changed between two texts of `objectsText`. */
export function changedObjects(before: string, now: string): SchemaChange[] {
  const [first, second]: readonly Objects[] = [JSON.parse(before), JSON.parse(now)];
  const names = [...new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})])].sort();
  return names.flatMap((key) => {
    const [was, is] = [first?.[key], second?.[key]];
    if (was === is) return [];
    const change = was === undefined ? "added" : is === undefined ? "removed" : "changed";
    const space = key.indexOf(" ");
    return [{ type: objectType(key.slice(0, space)), name: key.slice(space + 1), change }];
  });
}

/** A file's name where it stands in the order of files: numbers count by their value. */
export function compareNames(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left = "", right = ""] = [a[at], b[at]];
    if (left === right) continue;
    const byValue = /^\d/.test(left) && /^\d/.test(right) ? compareNumbers(left, right) : 0;
    return byValue !== 0 ? byValue : left < right ? -1 : 1;
  }
  return a.length - b.length;
}

function partsOf(name: string): string[] {
  return name.match(/\d+|\D+/g) ?? [];
}

/** Numbers of any length. */
function compareNumbers(one: string, other: string): number {
  const [a, b] = [one.replace(/^0+/, ""), other.replace(/^0+/, "")];
  return a.length !== b.length ? a.length - b.length : a < b ? -1 : a > b ? 1 : 0;
}
