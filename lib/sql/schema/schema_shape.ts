// A database's schema as plain data, from which schema changes are found. The service's own objects, shadow tables and
// what the engine makes by itself are left out.
import { foldName } from "../words/names.ts";

/** The types in `sqlite_schema`. */
export type ObjectType = "table" | "index" | "view" | "trigger";

/** A type as a database or a record has it. */
export function objectType(type: unknown): ObjectType {
  return type === "index" || type === "view" || type === "trigger" ? type : "table";
}

/** A row of `sqlite_schema`. */
export interface SchemaObject {
  readonly type: ObjectType;
  readonly name: string;
  /** The table or view that it belongs to; for those its own name. */
  readonly table: string;
  /** The text as the engine stores it. */
  readonly sql: string;
  /** Does not change with a rename. 0 where the object has no storage. */
  readonly rootPage: number;
}

/** A column of a table. */
export interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  /** SQL text; null where there is none. */
  readonly defaultSql: string | null;
  /** Position in the primary key from 1, or 0. */
  readonly keyIndex: number;
  /** 0: stored, 1: hidden, 2 and 3: generated. */
  readonly hidden: number;
}

/** A whole schema. */
export interface SchemaShape {
  /** In the order of their creation. */
  readonly objects: readonly SchemaObject[];
  /** The columns of tables, by name. */
  readonly columns: ReadonlyMap<string, readonly ColumnShape[]>;
  readonly userVersion: number;
}

/** Kind and name of an object: an index and a trigger may share a name. */
export function objectKey({ type, name }: Pick<SchemaObject, "type" | "name">): string {
  return `${type} ${foldName(name)}`;
}

/** Objects by their key. */
export function objectsByKey(shape: SchemaShape): Map<string, SchemaObject> {
  return new Map(shape.objects.map((one) => [objectKey(one), one]));
}

/** Whether two schemas have the same objects with the same text. */
export function sameShape(a: SchemaShape, b: SchemaShape): boolean {
  const others = objectsByKey(b);
  return a.objects.length === b.objects.length && a.userVersion === b.userVersion &&
    a.objects.every((one) => others.get(objectKey(one))?.sql === one.sql);
}
