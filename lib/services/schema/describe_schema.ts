// The schema with its stored descriptions, in the form of the specification.
import type { StatementsContext } from "../query/run_statements.ts";
import { readSchema } from "./read_schema.ts";

export interface SchemaDescription {
  readonly databaseDescription: string;
  readonly tables: readonly {
    readonly table: string;
    readonly description: string;
    readonly columns: readonly {
      readonly name: string;
      readonly type: string;
      readonly pk: boolean;
      readonly notNull: boolean;
      readonly description: string;
    }[];
    /** One entry a column; `toColumn` is empty where the target has none. */
    readonly foreignKeys: readonly {
      readonly from: string;
      readonly toTable: string;
      readonly toColumn: string;
    }[];
    /** Only where it cannot be read: why. */
    readonly error?: string;
  }[];
}

/** Tables by name; what is not described has the description "". Errors: those of the pipeline. */
export async function describeSchema(ctx: StatementsContext): Promise<SchemaDescription> {
  const { databaseDescription, tables } = await readSchema(ctx);
  return {
    databaseDescription,
    tables: tables.map((table) => ({
      table: table.name,
      description: table.description,
      columns: table.columns.map(({ name, type, pk, notNull, description }) => ({
        name,
        type,
        pk: pk > 0,
        notNull,
        description,
      })),
      foreignKeys: table.foreignKeys.flatMap(({ columns, toTable, toColumns }) =>
        columns.map((from, at) => ({ from, toTable, toColumn: toColumns[at] ?? "" }))
      ),
      ...(table.error === null ? {} : { error: table.error }),
    })),
  };
}
