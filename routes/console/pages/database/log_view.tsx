// What the page of the log shows: the calls with what each read, wrote, took and cost; one of them whole.
import { costNanoUsd, toUsd } from "../../../../lib/query/prices.ts";
import type { QueryLogEntry } from "../../../../lib/services/query/read_query_log.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { CopyLine } from "../../parts/copy_line.tsx";
import { EmptyCard } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { usd, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { Pairs } from "../../parts/pairs.tsx";
import { Pill } from "../../parts/pill.tsx";
import { SqlText } from "../../parts/sql_text.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import type { PagePlace } from "../../frame/database_pages.ts";

/** Characters of a text that its line shows. */
const SHOWN = 100;

/** Which calls are wanted; null: no matter. */
export interface LogFilter {
  readonly status: "ok" | "error" | null;
  /** Id of a token or a member. */
  readonly who: string | null;
  /** Whole days, as `2026-11-30`. */
  readonly since: string | null;
  readonly until: string | null;
  /** Only calls older than the one with this id. */
  readonly after: string | null;
  /** Only the call with this id. */
  readonly id: string | null;
}

/** What the page tells. */
export interface LogProps {
  readonly visit: Visit;
  readonly at: PagePlace;
  readonly filter: LogFilter;
  readonly entries: readonly QueryLogEntry[];
  readonly nextCursor: string | null;
  /** Id of a token or a member → its name. */
  readonly names: ReadonlyMap<string, string>;
}

/** The page. */
export function Log(props: LogProps): Html {
  const { filter, entries, at } = props;
  if (filter.id !== null) return <One {...props} entry={entries[0] ?? null} />;
  const filtered = Object.values(filter).some((value) => value !== null);
  return (
    <div class="stack">
      {filtered || entries.length > 0 ? <Filter {...props} /> : null}
      {entries.length > 0 ? <List {...props} /> : filtered
        ? (
          <EmptyCard icon="search" title="No call like that">
            <p>
              Rows are kept for some days. <a href={at.base}>Show all calls</a>
            </p>
          </EmptyCard>
        )
        : <Nothing {...props} />}
    </div>
  );
}

function Filter({ visit, at, filter, names }: LogProps): Html {
  const { who } = filter;
  const known = [...names].map(([id, name]) => [id, visibleText(name)] as const);
  const callers = who === null || names.has(who) ? known : [...known, [who, nameOf(who, names)] as const];
  return (
    <Form visit={visit} action={at.base} method="get" kind="filter-fields">
      <Field
        label="Outcome"
        name="status"
        value={filter.status ?? ""}
        choices={[["", "All"], ["ok", "Succeeded"], ["error", "Failed"]]}
      />
      <Field
        label="Who"
        name="who"
        value={who ?? ""}
        choices={[["", "Everybody"], ...callers]}
      />
      <Field label="From" name="since" type="date" value={filter.since ?? ""} />
      <Field label="To" name="until" type="date" value={filter.until ?? ""} />
      <Button icon="search">Show</Button>
    </Form>
  );
}

function List({ entries, nextCursor, names, at, filter }: LogProps): Html {
  return (
    <Card
      id="calls"
      title="Calls"
      about="newest first"
      full
      foot={nextCursor === null ? undefined : <a href={hrefOf(at.base, filter, nextCursor)}>Older calls</a>}
    >
      <Grid
        label="List of calls"
        kind="list history"
        columns={[
          { name: "Statement" },
          { name: "When" },
          { name: "Who" },
          { name: "Read", numeric: true },
          { name: "Written", numeric: true },
          { name: "Time", numeric: true },
          { name: "Cost", numeric: true },
        ]}
        rows={entries.map((entry) => [
          <>
            <a href={`${at.base}?id=${entry.id}`}>
              <code>{visibleText(entry.sql.replace(/\s+/g, " ").slice(0, SHOWN)) || entry.operation}</code>
            </a>
            {entry.status === "ok" ? null : (
              <>
                {" "}
                <Pill tone="bad">{entry.errorKind ?? entry.status}</Pill>
              </>
            )}
          </>,
          <Time at={entry.ts} />,
          nameOf(entry.tokenId, names),
          whole(entry.rowsRead),
          whole(entry.rowsWritten),
          `${Math.round(entry.durationMs)} ms`,
          usd(costOf(entry)),
        ])}
      />
    </Card>
  );
}

/** Published endpoints call by their slug; whoever is gone keeps its id. */
function nameOf(id: string, names: LogProps["names"]): string {
  return visibleText(names.get(id) ?? id.replace(/^endpoint:/, "endpoint "));
}

function hrefOf(base: string, filter: LogFilter, after: string): string {
  const set = Object.entries({ ...filter, after }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]]
  );
  return `${base}?${new URLSearchParams(set)}`;
}

/** What a call of these figures costs now: the log has no prices. */
function costOf({ rowsRead, rowsWritten }: QueryLogEntry): number {
  return toUsd(costNanoUsd(rowsRead, rowsWritten));
}

function One({ entry, names, at }: LogProps & { entry: QueryLogEntry | null }): Html {
  if (entry === null) {
    return (
      <EmptyCard icon="search" title="No such call">
        <p>
          It is older than the log, or belongs to another database or branch.{" "}
          <a href={at.base}>Show all calls</a>
        </p>
      </EmptyCard>
    );
  }
  const { id, ts, tokenId, userId, operation, status, errorKind, statementCount } = entry;
  return (
    <div class="stack">
      <p>
        <a href={at.base}>All calls</a>
      </p>
      <Card
        id="call"
        title={operation}
        about={<code>{id}</code>}
        end={status === "ok"
          ? <Pill tone="good" icon="check">ok</Pill>
          : <Pill tone="bad">{errorKind ?? status}</Pill>}
        full
      >
        <SqlText sql={entry.sql} />
        <Pairs
          pairs={[
            { name: "When", value: <Time at={ts} /> },
            {
              name: "Who",
              value: (
                <a href={`${at.base}?who=${encodeURIComponent(tokenId)}`}>
                  {nameOf(tokenId, names)}
                </a>
              ),
            },
            ...(userId === null ? [] : [{ name: "User of the app", value: visibleText(userId) }]),
            { name: "Statements", value: whole(statementCount) },
            { name: "Rows read", value: whole(entry.rowsRead) },
            { name: "Rows written", value: whole(entry.rowsWritten) },
            { name: "Time", value: `${entry.durationMs} ms` },
            { name: "Cost", kind: "at today's prices", value: usd(costOf(entry)) },
          ]}
        />
      </Card>
    </div>
  );
}

function Nothing({ at: { namespace, path, baseUrl } }: LogProps): Html {
  return (
    <EmptyCard icon="history" title="Nobody has called this database yet">
      <p>
        Every call stands here with its rows, its time and its cost, never with its values. A first one:
      </p>
      <CopyLine
        label="the call"
        text={`curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/db/${namespace}/${path}/query -d '{"sql":"SELECT 1"}'`}
      />
    </EmptyCard>
  );
}
