// What `same_as_sqlite.ts` does with whole databases: round trips of all there is, and many callers at once.
import { PlainDatabase } from "../models/plain_database.ts";
import type { Call } from "../models/random_statements.ts";
import { manage, type ServiceWorld } from "../testing/service_world.ts";
import { compared, post, remove, restDoor, type Told } from "./sql_doors.ts";
import { Dice, Wild } from "./wild_statements.ts";

/** The services under trial, and what was seen. */
export interface Trial {
  readonly embedded: ServiceWorld;
  /** On sqld; null: left out. */
  readonly remote: ServiceWorld | null;
  /** How often each thing has come. */
  readonly counts: Record<string, number>;
  /** Says where the case of a seed has differed. */
  differ(of: number, where: string, text: string): void;
}

/** Counts one more. */
export function note({ counts }: Trial, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Rows in any order, as a text. */
export function dumpOf(rows: readonly (readonly unknown[])[]): string {
  return JSON.stringify(rows.map((row) => JSON.stringify(row)).toSorted());
}

/** Export, import, branch, snapshot and restore leave what there is. */
export async function roundTrips(
  trial: Trial,
  of: number,
  wild: Wild,
  plain: PlainDatabase,
  slug: string,
): Promise<void> {
  const compare = async (
    where: string,
    rowsOf: (sql: string) => Promise<readonly (readonly unknown[])[]>,
  ) => {
    for (const sql of wild.dumps) {
      const wanted = dumpOf(plain.rows(sql));
      const told = dumpOf(await rowsOf(sql).catch((error) => [[String(error)]]));
      if (told !== wanted) trial.differ(of, where, `dump ${sql}\n  wanted ${wanted}\n  told   ${told}`);
    }
  };
  const through = (world: ServiceWorld, database: string) => async (sql: string) => {
    const { body } = await post(world, `/v1/db/acme/${database}/query`, { sql });
    if (body.data === undefined) throw new Error(body.error);
    return body.data.rows;
  };
  const from = `/v1/db/acme/${slug}-rest`;
  for (const format of ["sql", "sqlite"]) {
    const answer = await fetch(`${trial.embedded.service.url}${from}/export?format=${format}`, {
      headers: { authorization: `Bearer ${trial.embedded.token}` },
    });
    const file = new Uint8Array(await answer.arrayBuffer());
    if (!answer.ok) return trial.differ(of, `export ${format}`, new TextDecoder().decode(file));
    const path = await Deno.makeTempFile({ suffix: ".sqlite" });
    try {
      await Deno.writeFile(path, format === "sqlite" ? file : new Uint8Array());
      using opened = new PlainDatabase(path);
      if (format === "sql") opened.script(new TextDecoder().decode(file));
      await compare(`export ${format}`, (sql) => Promise.resolve(opened.rows(sql)));
      const whole = JSON.stringify(opened.rows("PRAGMA integrity_check"));
      if (whole !== '[["ok"]]') trial.differ(of, `export ${format}`, whole);
    } catch (error) {
      trial.differ(
        of,
        `export ${format}`,
        `${error} ${format === "sql" ? new TextDecoder().decode(file) : ""}`,
      );
    } finally {
      await Deno.remove(path);
    }
    await manage(trial.embedded, "/acme/databases", { slug: `${slug}-${format}` });
    const imported = await fetch(
      `${trial.embedded.service.url}/v1/db/acme/${slug}-${format}/import?format=${format}&mode=create`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${trial.embedded.token}` },
        body: file,
      },
    );
    const text = await imported.text();
    if (!imported.ok) {
      trial.differ(
        of,
        `import ${format}`,
        `${text} ${JSON.stringify(wild.setUp.map(({ sql }) => sql))}`,
      );
    } else await compare(`import ${format}`, through(trial.embedded, `${slug}-${format}`));
  }
  const worlds: [ServiceWorld, string][] = [[trial.embedded, `${slug}-rest`]];
  if (trial.remote !== null) worlds.push([trial.remote, slug]);
  for (const [world, database] of worlds) {
    const where = world === trial.remote ? "sqld" : "embedded";
    const { body: snapshot } = await post(world, `/v1/db/acme/${database}/snapshots`, {});
    const claimed = await post(world, `/v1/db/acme/${database}/claim_branch`, {
      purpose: "test",
      ref: "b",
      role: "admin",
    });
    if (claimed.status !== 200 && claimed.status !== 201) {
      return trial.differ(of, `${where} claim`, JSON.stringify(claimed.body));
    }
    await compare(`${where} branch`, through(world, `${database}@b`));
    const spoil = Array.from({ length: 8 }, () => wild.write());
    for (const one of spoil) await post(world, `/v1/db/acme/${database}@b/query`, one);
    await compare(`${where} trunk beside its branch`, through(world, database));
    // What a merge of rows leaves in the trunk is what the branch has.
    const merged = await post(world, `/v1/db/acme/${database}/branches/b/merge`, {
      mode: "data",
      onConflict: "abort",
    });
    note(trial, `merge ${merged.body.code ?? "ok"}`);
    if (merged.status === 200) {
      for (const sql of wild.dumps) {
        const [trunk, branch] = [
          await through(world, database)(sql),
          await through(world, `${database}@b`)(sql),
        ].map(dumpOf);
        if (trunk !== branch) {
          trial.differ(
            of,
            `${where} merge`,
            `dump ${sql}\n  branch ${branch}\n  trunk   ${trunk} ${JSON.stringify(spoil)} ${
              JSON.stringify(merged.body)
            } ${JSON.stringify(wild.setUp.map(({ sql }) => sql))}`,
          );
        }
      }
    } else await compare(`${where} refused merge`, through(world, database));
    for (const one of spoil) await post(world, `/v1/db/acme/${database}/query`, one);
    const restored = await post(world, `/v1/db/acme/${database}/restore`, { snapshot: snapshot.data?.label });
    if (restored.status !== 200) {
      trial.differ(of, `${where} restore`, JSON.stringify(restored.body) + JSON.stringify(snapshot));
    }
    await compare(`${where} restore`, through(world, database));
  }
}

/** What 16 callers have done at once is what one does who makes the same calls in the order of the log. */
export async function crowd(trial: Trial, of: number, world: ServiceWorld, where: string): Promise<void> {
  const dice = new Dice(of + 1);
  const wild = new Wild(dice, where === "embedded");
  const slug = `crowd-${of}`;
  using plain = new PlainDatabase();
  // Says in which order they came, and what those saw that come alone.
  const order = { sql: "CREATE TABLE came (n INTEGER PRIMARY KEY AUTOINCREMENT, call, saw)", params: [] };
  const setUp: Call = { statements: [...wild.setUp, order], transaction: true };
  if (plain.run(setUp).failure) return;
  await manage(world, "/acme/databases", { slug });
  try {
    const path = `/v1/db/acme/${slug}`;
    await post(world, `${path}/batch`, setUp);
    const lookUp = wild.lookUp();
    const calls = Array.from({ length: 160 }, (_, at): Call => {
      const one = () =>
        dice.rarely(20)
          ? wild.schemaChange(dice.below(9))
          : dice.rarely(3)
          ? wild.again(lookUp)
          : wild.write();
      const saw = dice.one(
        "(SELECT count(*) FROM log)",
        `(SELECT count(*) FROM (${lookUp.sql.replaceAll("?", "1")}))`,
        "?",
      );
      const mark = {
        sql: `INSERT INTO came (call, saw) VALUES (?, ${saw})${dice.one("", " RETURNING *")}`,
        params: saw === "?" ? [at, "x"] : [at],
      };
      return dice.rarely(3)
        ? { statements: [mark], transaction: null }
        : { statements: [...dice.many(1, 3, one), mark], transaction: true };
    });
    const answers = new Map<unknown, { call: Call; told: Told }>();
    const codes = new Set<string>();
    let next = 0;
    await Promise.all(Array.from({ length: 16 }, async () => {
      for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
        const { status, body } = call.transaction === null
          ? await post(world, `${path}/query`, call.statements[0])
          : await post(world, `${path}/batch`, call);
        if (status !== 200) {
          if (body.code === "database_busy") note(trial, "busy");
          else if (status !== 400) codes.add(`${status} ${body.code} ${body.error}`);
          continue;
        }
        const data = Array.isArray(body.data) ? body.data : [body.data];
        answers.set(call.statements.at(-1)?.params[0], {
          call,
          told: { kind: "", message: "", results: data },
        });
      }
    }));
    if (codes.size > 0) trial.differ(of, `${where} crowd`, [...codes].join("; "));
    const { body: log } = await post(world, `${path}/query`, {
      sql: "SELECT call FROM came ORDER BY n",
    });
    const door = restDoor("crowd", world, slug, where === "sqld");
    if (log.data === undefined) return trial.differ(of, `${where} crowd log`, JSON.stringify(log));
    for (const [id] of log.data.rows) {
      const found = answers.get(id);
      if (found === undefined) return trial.differ(of, `${where} crowd`, "a refused call has left its mark");
      answers.delete(id);
      const { call, told } = found;
      const { results, failure } = plain.run(call);
      const wanted = compared({ kind: failure?.kind ?? "", message: "", results }, call, wild, door);
      const was = compared(told, call, wild, door);
      note(trial, "crowd");
      if (wanted !== was) {
        trial.differ(
          of,
          `${where} crowd`,
          `${JSON.stringify(call)}\n  wanted ${wanted} ${
            JSON.stringify(failure)
          }\n  told   ${was}\n  schema ${JSON.stringify(wild.setUp.map(({ sql }) => sql))}`,
        );
      }
    }
    if (answers.size > 0) {
      trial.differ(of, `${where} crowd`, `${answers.size} calls were answered and are not there`);
    }
    for (const sql of [...wild.dumps, "SELECT * FROM came"]) {
      const [wanted, told] = [plain.rows(sql), (await post(world, `${path}/query`, { sql })).body.data.rows]
        .map((rows) => JSON.stringify(rows.map((row: unknown) => JSON.stringify(row)).toSorted()));
      if (wanted !== told) {
        trial.differ(of, `${where} crowd`, `dump ${sql}\n  wanted ${wanted}\n  told   ${told}`);
      }
    }
  } finally {
    await remove(world, slug);
  }
}
