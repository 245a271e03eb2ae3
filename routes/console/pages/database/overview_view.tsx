// What the overview of a database shows.
import type { Role } from "../../../../lib/core/role.ts";
import type { Arrangement } from "../../../../lib/services/schema/arrange_tables.ts";
import type { TableSummary } from "../../../../lib/services/schema/list_tables.ts";
import type { SchemaFacts, TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { bytes, counted, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { COUNTED_ROWS, countedRows } from "../../parts/schema_list.tsx";
import { tablePath } from "../../parts/table_path.ts";
import { Tiles } from "../../parts/tiles.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { MOST_CHARACTERS, shownName } from "../tables/description_form.ts";
import { EntityPicture } from "../tables/entity_picture.tsx";
import { NoTables } from "../tables/tables_view.tsx";

/** What the page tells. */
export interface OverviewProps {
  readonly visit: Visit;
  readonly namespace: string;
  readonly path: string;
  readonly base: string;
  readonly baseUrl: string;
  readonly role: Role;
  readonly schema: SchemaFacts;
  readonly counts: readonly TableSummary[];
  readonly sizeBytes: number;
  readonly state: string;
  /** Null where there is no table. */
  readonly arrangement: Arrangement | null;
  /** The table whose columns are open at first. */
  readonly open: string | null;
  /** The table whose descriptions were stored just now; empty for the database. */
  readonly saved: string | null;
}

/** The page below the tabs. */
export function Overview(props: OverviewProps): Html {
  const { schema, base, role, arrangement, state, saved, baseUrl, namespace, path } = props;
  const call = `curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${path}/query`;
  return (
    <div class="stack">
      {state === "ok" ? null : (
        <Notice tone="bad">
          The file of this database is {state}. <a href={`${base}/snapshots`}>Go back to a snapshot</a>.
        </Notice>
      )}
      {saved === null ? null : <Notice tone="good">The descriptions are stored.</Notice>}
      <Facts {...props} />
      <About {...props} />
      {schema.tables.length === 0 ? <NoTables base={base} role={role} /> : <TableCards {...props} />}
      {arrangement === null ? null : (
        <Card
          id="picture"
          title="How they refer to each other"
          about={arrangement.around === null
            ? undefined
            : `${visibleText(arrangement.around)} and its neighbours: all of them would be too many`}
          full
        >
          <EntityPicture arrangement={arrangement} base={base} />
        </Card>
      )}
      {schema.tables.length === 0 ? null : (
        <div
          id="findings"
          hx-get={`${base}/findings`}
          hx-trigger="load"
          hx-swap="outerHTML"
          hx-target="this"
        >
          <Card id="findings-title" title="Findings" full>
            <p class="note body">
              <a href={`${base}/findings`}>Examine the schema</a>{" "}
              for keys, indexes and names that will cost time later.
            </p>
          </Card>
        </div>
      )}
      <Card id="connect" title="From a program">
        <CopyLine label="the command" text={`${call} -d '{"sql":"SELECT 1"}'`} />
      </Card>
    </div>
  );
}

function Facts({ schema: { tables }, counts, sizeBytes }: OverviewProps): Html {
  const counted10k = counts.some(({ rowCount }) => (rowCount ?? 0) > COUNTED_ROWS);
  const rows = counts.reduce((sum, { rowCount }) => sum + Math.min(rowCount ?? 0, COUNTED_ROWS), 0);
  const described = tables.filter(({ description }) => description !== "").length;
  return (
    <Tiles
      label="The database"
      tiles={[
        { name: "Tables", value: whole(tables.length), about: counted(columnsOf(tables), "column") },
        {
          name: "Rows",
          value: `${whole(rows)}${counted10k ? "+" : ""}`,
          about: counted10k ? "large tables counted to 10,000" : "in all tables",
        },
        { name: "Size", value: bytes(sizeBytes), about: "on the disk, with its log" },
        {
          name: "Described",
          value: tables.length === 0 ? "none" : `${described} of ${tables.length}`,
          about: "what agents read first",
        },
      ]}
    />
  );
}

function columnsOf(tables: readonly TableFacts[]): number {
  return tables.reduce((sum, { columns }) => sum + columns.length, 0);
}

function About({ visit, base, role, schema: { databaseDescription } }: OverviewProps): Html | null {
  if (role !== "admin") {
    return databaseDescription === "" ? null : <p class="lead">{visibleText(databaseDescription)}</p>;
  }
  return (
    <details class="about-database" open={databaseDescription === ""}>
      <summary>
        {databaseDescription === "" ? "Say what this database is for" : visibleText(databaseDescription)}
        <span class="link">{databaseDescription === "" ? "" : "Edit"}</span>
      </summary>
      <Form
        visit={visit}
        action={`${base}/descriptions`}
        hidden={{ [shownName("about")]: databaseDescription }}
        kind="described"
      >
        <textarea name="about" aria-label="Description of the database" maxlength={MOST_CHARACTERS} rows={2}>
          {`\n${databaseDescription}`}
        </textarea>
        <Button small>Store</Button>
      </Form>
    </details>
  );
}

/** Tables whose forms stand in the page: with more, one at a time. */
const MOST_FORMS = 40;

function TableCards(props: OverviewProps): Html {
  const { schema: { tables }, counts, open } = props;
  const rows = new Map(counts.map((one) => [one.name, one]));
  const forms = tables.length <= MOST_FORMS;
  return (
    <Card id="tables" title="Tables" about={counted(tables.length, "table")} full>
      <ul class="described-tables">
        {tables.map((table) => (
          <li>
            <details open={table.name === open}>
              <summary>
                <b>{visibleText(table.name)}</b>
                <span class="about-table">
                  {table.description === ""
                    ? <span class="null">not described</span>
                    : visibleText(table.description)}
                </span>
                <small>{countedRows(rows.get(table.name))}</small>
              </summary>
              {forms || table.name === open ? <TableForm {...props} table={table} /> : (
                <p class="body note">
                  <a href={`${props.base}?${new URLSearchParams({ table: table.name })}#tables`}>
                    Columns and descriptions
                  </a>
                </p>
              )}
            </details>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function TableForm({ visit, base, role, table }: OverviewProps & { table: TableFacts }): Html {
  const { name, description, columns } = table;
  const rows = (
    <p>
      <a href={tablePath(base, name)}>Look at its rows</a>
    </p>
  );
  if (role !== "admin") {
    return (
      <div class="described">
        {rows}
        <dl>
          {columns.map((column) => (
            <div>
              <dt>{visibleText(column.name)}</dt>
              <dd>{visibleText([column.type, column.description].filter((one) => one !== "").join(": "))}</dd>
            </div>
          ))}
        </dl>
      </div>
    );
  }
  return (
    <Form
      visit={visit}
      action={`${base}/descriptions`}
      hidden={{ table: name, [shownName("about")]: description }}
      kind="described"
    >
      {rows}
      <textarea
        name="about"
        aria-label={`Description of ${visibleText(name)}`}
        placeholder="What one row of it stands for"
        maxlength={MOST_CHARACTERS}
        rows={2}
      >
        {`\n${description}`}
      </textarea>
      <div class="described-columns">
        {columns.map((column, at) => (
          <label>
            <span>
              {visibleText(column.name)} <small>{visibleText(column.type)}</small>
            </span>
            <input type="hidden" name="column" value={column.name} />
            {/* The field below shows no ends of lines. */}
            <input
              type="hidden"
              name={shownName(`about-${at}`)}
              value={column.description.replaceAll(/[\r\n]/g, "")}
            />
            <input
              name={`about-${at}`}
              value={column.description}
              maxlength={MOST_CHARACTERS}
              placeholder="Not described"
              autocomplete="off"
            />
          </label>
        ))}
      </div>
      <Button small kind="primary">Store the descriptions</Button>
    </Form>
  );
}
