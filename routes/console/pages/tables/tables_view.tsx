// The list of a database's tables.
import type { Role } from "../../../../lib/core/role.ts";
import type { TableSummary } from "../../../../lib/services/schema/list_tables.ts";
import type { SchemaFacts } from "../../../../lib/services/schema/schema_facts.ts";
import { Card } from "../../parts/card.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { counted, whole } from "../../parts/figures.ts";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Pill } from "../../parts/pill.tsx";
import { rowsText } from "../../parts/schema_list.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { visibleText } from "../../parts/visible_text.ts";

/** What the list shows. */
export interface TablesListProps {
  readonly schema: SchemaFacts;
  readonly counts: readonly TableSummary[];
  readonly base: string;
  readonly role: Role;
}

/** A line that makes a table, for the empty database. */
const CREATE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";

/** A row a table. */
export function TablesList({ schema: { tables }, counts, base, role }: TablesListProps): Html {
  if (tables.length === 0) return <NoTables base={base} role={role} />;
  const rows = new Map(counts.map((one) => [one.name, one]));
  return (
    <Card id="tables" title="Tables" about={counted(tables.length, "table")} full>
      <Grid
        label="Tables"
        columns={[
          { name: "Table" },
          { name: "Rows", numeric: true },
          { name: "Columns", numeric: true },
          { name: "Refers to" },
          { name: "Description" },
        ]}
        rows={tables.map((table) => [
          <>
            <a href={tablePath(base, table.name)}>{visibleText(table.name)}</a>
            {table.error === null ? null : (
              <>
                {" "}
                <Pill tone="bad" icon="alert">cannot be read</Pill>
              </>
            )}
          </>,
          rowsText(rows.get(table.name)),
          whole(table.columns.length),
          [...new Set(table.foreignKeys.map(({ toTable }) => visibleText(toTable)))].join(", "),
          <span class="about">{visibleText(table.description)}</span>,
        ])}
      />
    </Card>
  );
}

/** What to do where there is no table yet. */
export function NoTables({ base, role }: { base: string; role: Role }): Html {
  return (
    <EmptyCard icon="table" title="No table yet">
      {role === "admin"
        ? (
          <>
            <p>A table is made by a statement. This one makes a small one, and is shown before it runs:</p>
            <p>
              <a href={`${base}/sql?${new URLSearchParams({ sql: CREATE })}`}>
                <code>{CREATE}</code>
              </a>
            </p>
          </>
        )
        : <p>An admin of this namespace makes the first one.</p>}
    </EmptyCard>
  );
}
