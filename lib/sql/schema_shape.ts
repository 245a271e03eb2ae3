// A database's schema as plain data: what schema changes are found from. The service's own objects, shadow tables and
// what the engine makes by itself are not in it.

export type ObjectType = "table" | "index" | "view" | "trigger";

export interface SchemaObject {
  readonly type: ObjectType;
  readonly name: string;
  /** The table or view that it belongs to; its own name where it is one. */
  readonly table: string;
  /** As the engine stores it. */
  readonly sql: string;
  /** Stays through a rename. 0 where it has no storage. */
  readonly rootPage: number;
}

export interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  /** SQL text, null where there is none. */
  readonly defaultSql: string | null;
  /** Place in the primary key from 1, or 0. */
  readonly keyPlace: number;
  /** 0 stored, 1 hidden, 2 and 3 generated. */
  readonly hidden: number;
}

export interface SchemaShape {
  /** In the order in which they were made. */
  readonly objects: readonly SchemaObject[];
  /** Of tables, by name. */
  readonly columns: ReadonlyMap<string, readonly ColumnShape[]>;
  readonly userVersion: number;
}

/** Names are compared as the engine does: without the case of ASCII letters. */
export function sameName(a: string, b: string): boolean {
  return objectKey(a) === objectKey(b);
}

export function objectKey(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Objects by kind and name: an index and a trigger may share a name. */
export function objectsByKey(shape: SchemaShape): Map<string, SchemaObject> {
  return new Map(shape.objects.map((one) => [`${one.type} ${objectKey(one.name)}`, one]));
}

/** The same objects with the same text. */
export function sameShape(a: SchemaShape, b: SchemaShape): boolean {
  const others = objectsByKey(b);
  return a.objects.length === b.objects.length && a.userVersion === b.userVersion &&
    a.objects.every((one) => others.get(`${one.type} ${objectKey(one.name)}`)?.sql === one.sql);
}
