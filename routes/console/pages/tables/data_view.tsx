// What the page of a database's files and migrations shows.
import type { MigrationView } from "../../../../lib/services/migrations/migration_state.ts";
import type { SchemaChange } from "../../../../lib/sql/service/branch_report.ts";
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Check } from "../../parts/check.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { Digest } from "../../parts/digest.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { PagePlace } from "../../frame/database_pages.ts";

/** What the page tells. */
export interface DataProps {
  readonly visit: Visit;
  readonly at: PagePlace;
  /** Names of all tables. */
  readonly tables: readonly string[];
  /** Oldest first. */
  readonly migrations: readonly MigrationView[];
  /** What has changed in the schema since the newest; null: there is none. */
  readonly drift: readonly SchemaChange[] | null;
  /** Id of a caller → its name. */
  readonly names: ReadonlyMap<string, string>;
  readonly returned: Returned<"export"> | null;
}

const formats: readonly (readonly [string, string])[] = [
  ["sqlite", "SQLite file: everything"],
  ["sql", "SQL: statements that any SQLite runs"],
  ["csv", "CSV: one table, for spreadsheets"],
  ["ndjson", "NDJSON: one table, a JSON object a row"],
];

/** The page. */
export function Data(props: DataProps): Html {
  return (
    <div class="beside">
      <div class="stack">
        {props.drift === null || props.drift.length === 0 ? null : <Drift drift={props.drift} />}
        {props.migrations.length === 0 ? <NoMigrations {...props} /> : <Migrations {...props} />}
      </div>
      <div class="stack">
        <Export {...props} />
        <Import {...props} />
      </div>
    </div>
  );
}

function Export({ visit, at, tables, returned }: DataProps): Html {
  const field = fieldsOf(returned, "export");
  const message = messageOf(returned, "export");
  return (
    <Card id="export" title="Export">
      <Form visit={visit} action={`${at.base}/export`} kind="form">
        {message === null ? null : <Notice tone="bad">{message}</Notice>}
        <p>One moment of {at.path}, whole and exact. It is billed as one request that reads each row.</p>
        <Field {...field("format", "sqlite")} label="As" choices={formats} />
        <Field
          {...field("table")}
          label="Of"
          choices={[["", "the whole database"], ...tables.map((name) => [name, visibleText(name)] as const)]}
        />
        <Check
          name="safe"
          label="No cell runs as a formula"
          hint="In a CSV: texts that begin like one get a ' in front. Untick it to import the file again."
          checked={returned?.fields.has("safe") ?? true}
        />
        <Button kind="primary" icon="download">Download</Button>
      </Form>
    </Card>
  );
}

/** By a program, since files may be larger than what a form should carry. */
function Import({ at: { namespace, path, baseUrl }, tables }: DataProps): Html {
  const [table] = tables;
  const [file, query] = table === undefined
    ? ["file.sqlite", "format=sqlite&mode=create"]
    : ["rows.csv", `format=csv&mode=append&table=${encodeURIComponent(table)}`];
  const call = `curl -X POST -H "Authorization: Bearer $TOKEN" --data-binary @${file}`;
  return (
    <Card id="import" title="Import" end={<a href="/docs/export-import">Every form of it</a>}>
      <div class="stack">
        <p>
          {table === undefined
            ? "A SQLite file becomes this database, with a token that is admin. For a CSV, make its table first."
            : "A CSV with a header adds its rows to a table, with a token that is admin."}
        </p>
        <CopyLine
          label="the command of the import"
          text={`${call} "${baseUrl}/v1/db/${namespace}/${path}/import?${query}"`}
        />
      </div>
    </Card>
  );
}

function Drift({ drift }: { drift: readonly SchemaChange[] }): Html {
  return (
    <Notice tone="warn">
      {counted(drift.length, "definition")}{" "}
      changed since the newest migration, and not by one: the files and the database no longer say the same.
      <ul>
        {drift.map(({ type, name, change }) => (
          <li>
            {type} <code>{visibleText(name)}</code> {change}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Migrations({ migrations, names }: DataProps): Html {
  return (
    <Card
      id="migrations"
      title="Migrations"
      about={`${counted(migrations.length, "file")} applied, newest first`}
      full
    >
      <Grid
        label="Migrations"
        columns={[{ name: "File" }, { name: "Digest" }, { name: "Applied" }]}
        rows={migrations.toReversed().map(({ name, sha256, appliedAt, tokenId, ran }) => [
          <>
            {visibleText(name)}
            {ran ? null : <small>recorded only, as a baseline</small>}
          </>,
          <Digest of={sha256} />,
          <>
            <Time at={appliedAt} />
            <small>by {visibleText(names.get(tokenId) ?? tokenId)}</small>
          </>,
        ])}
      />
    </Card>
  );
}

function NoMigrations({ at: { namespace, path, baseUrl } }: DataProps): Html {
  return (
    <EmptyCard icon="table" title="No migration yet">
      <p>
        SQL files of a project, each applied once and in order; those of drizzle, prisma, dbmate and others
        are read as they are. In a clone of Cubby, with a token that is admin:
      </p>
      <CopyLine
        label="the command"
        text={`CUBBY_DB=${baseUrl}/v1/db/${namespace}/${path} CUBBY_TOKEN=$TOKEN deno task migrate --dir ../${
          path.replace(/@.*/, "")
        }/migrations --dry-run`}
      />
    </EmptyCard>
  );
}
