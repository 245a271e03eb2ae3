// Applies migration files to every database of a namespace whose name begins so: what a service with a database for each
// tenant does at each release.
import { type Api, type ApiBody, callApi } from "./api_call.ts";
import { failureWords } from "./migration_words.ts";

/** Databases at the same time. */
const AT_ONCE = 4;
/** The most that one page of the list has. */
const PAGE_SIZE = 500;

/** Which databases, and what to do with each of them. */
export interface ManyDatabases {
  /** `http://host`. */
  readonly service: string;
  readonly namespace: string;
  /** What their names begin with; empty: all. */
  readonly prefix: string;
  readonly api: Pick<Api, "token" | "fetch">;
  readonly ask: (api: Api) => Promise<ApiBody>;
  /** What to say of an answer; nothing where there is nothing to say. */
  readonly words: (body: ApiBody) => readonly string[];
  readonly say: (line: string) => void;
}

/** What has become of a database. */
type Fate = "quiet" | "told" | "held" | "refused";

/**
 * The first one is asked alone: what it refuses, all would. Answers the exit code: 1 where one has refused, else 3 where one
 * waits for a person, else 0. Throws where no answer comes back.
 */
export async function migrateMany(many: ManyDatabases): Promise<number> {
  const { say } = many;
  const listed = await listNames(many);
  if (!Array.isArray(listed)) {
    for (const line of failureWords(listed)) say(line);
    return 1;
  }
  const [first, ...others] = listed;
  if (first === undefined) {
    say(`No database of ${many.namespace} has a name that begins with "${many.prefix}".`);
    return 1;
  }
  const fates: Fate[] = [await migrateOne(many, first)];
  if (fates[0] === "refused") say("No other database was asked.");
  else await Promise.all(Array.from({ length: AT_ONCE }, () => work(many, others, fates)));
  const number = (fate: Fate) => fates.filter((one) => one === fate).length;
  const [refused, held] = [number("refused"), number("held")];
  const fine = `${number("told")} had something to tell, ${number("quiet")} had nothing to do`;
  say(`Of ${listed.length} databases ${fine}, ${held} wait for a person, ${refused} refused.`);
  return refused > 0 ? 1 : held > 0 ? 3 : 0;
}

/** Takes names from the list until there is none. */
async function work(many: ManyDatabases, names: string[], fates: Fate[]): Promise<void> {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    fates.push(await migrateOne(many, name));
  }
}

async function migrateOne(
  { service, namespace, api, ask, words, say }: ManyDatabases,
  name: string,
): Promise<Fate> {
  const body = await ask({ ...api, db: `${service}/v1/db/${namespace}/${name}` });
  const tell = (lines: readonly string[]) => {
    for (const line of lines) say(`${name}: ${line}`);
  };
  if (body.code === "approval_required") {
    tell([`a rule holds them for a person: ${body["approvalUrl"]}`]);
    return "held";
  }
  const lines = body.success ? words(body) : failureWords(body);
  tell(lines);
  return !body.success ? "refused" : lines.length > 0 ? "told" : "quiet";
}

/** The names; the answer of the service where it refuses to tell them. */
async function listNames(
  { service, namespace, prefix, api }: ManyDatabases,
): Promise<string[] | ApiBody> {
  const names: string[] = [];
  const place = { ...api, db: `${service}/api/namespaces/${namespace}` };
  for (let cursor: unknown = "";;) {
    const query = new URLSearchParams({ pageSize: String(PAGE_SIZE) });
    if (prefix !== "") query.set("prefix", prefix);
    if (cursor !== "") query.set("cursor", String(cursor));
    const page = await callApi(place, "GET", `databases?${query}`);
    if (!Array.isArray(page.data)) return page;
    names.push(...page.data.map((one: unknown) => String(Reflect.get(Object(one), "slug"))));
    cursor = Reflect.get(Object(page.meta), "nextCursor") ?? null;
    if (cursor === null) return names;
  }
}
