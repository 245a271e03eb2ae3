// Many redeemers of one token at the same moment, over several service processes on one KV and one sqld: one may win.
import { assert, assertEquals } from "@std/assert";
import { type Sqld, startSqld } from "../testing/sqld.ts";
import { startPermissions } from "../testing/start_permissions.ts";

export interface RedeemerOptions {
  readonly processes: number;
  /** Concurrent redeemers of each token, over all processes. */
  readonly redeemers: number;
  /** One handoff, one execution and one approval token a round. */
  readonly rounds: number;
  readonly progress?: (text: string) => void;
}

export interface RedeemerFigures {
  readonly tokens: number;
  readonly redeemers: number;
  /** Answers of losers that were a plain "used", and others: each may come again. */
  readonly used: number;
  readonly busy: number;
  /** Tokens with no winner or with several, and effects that are not there exactly once. */
  readonly wrong: readonly string[];
}

type Kind = "handoff" | "execution" | "approval";

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

const OPERATOR_KEY = "operator-key-of-the-redeemers";
const PATH = "/v1/db/race/main";
/** What a loser may hear that does not say "used": the control plane or the engine was too busy to tell. */
const BUSY = [429, 503];

/** Null, after a line that says why, where there is no sqld for this machine. */
export async function redeemerRounds(options: RedeemerOptions): Promise<RedeemerFigures | null> {
  const sqld = await startSqld({ args: ["--enable-namespaces", "--disable-default-namespace"] });
  if (sqld === null) return null;
  const folder = await Deno.makeTempDir({ prefix: "cubby_redeemers_" });
  const services: SharedService[] = [];
  try {
    for (let at = 0; at < options.processes; at++) {
      services.push(await SharedService.start(`${folder}/kv.sqlite3`, sqld));
    }
    return await new Race(services, options).run();
  } finally {
    for (const service of services) await service.stop();
    await sqld.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

class Race {
  #used = 0;
  #busy = 0;
  readonly #wrong: string[] = [];
  #token = "";

  constructor(
    private readonly services: readonly SharedService[],
    private readonly options: RedeemerOptions,
  ) {}

  async run(): Promise<RedeemerFigures> {
    await this.#prepare();
    const { rounds, redeemers, progress } = this.options;
    for (let round = 0; round < rounds; round++) {
      await this.#handoff(round);
      await this.#execution(round);
      await this.#approval(round);
      progress?.(`${round + 1} of ${rounds} rounds`);
    }
    return { tokens: rounds * 3, redeemers, used: this.#used, busy: this.#busy, wrong: this.#wrong };
  }

  async #prepare(): Promise<void> {
    await this.#manage("POST", "", { slug: "race" });
    await this.#manage("POST", "/race/databases", { slug: "main" });
    const made = await this.#manage("POST", "/race/tokens", { name: "race", role: "admin" });
    this.#token = made.token;
    for (const table of ["applied", "held"]) {
      assertEquals((await this.#query(`CREATE TABLE ${table} (round INTEGER NOT NULL)`)).status, 200);
    }
    const rule = { tableGlob: "held", effect: "require_approval" };
    await this.#manage("POST", "/race/databases/main/rules", rule);
  }

  async #handoff(round: number): Promise<void> {
    const name = `handoff-${round}`;
    const minted = await this.#post("handoff", { role: "read", ttlSec: 600 });
    const { token } = minted.body.data;
    const winners = await this.#all(
      "handoff",
      round,
      (service) => service.call("POST", "/v1/handoff/redeem", { body: { token, name } }),
    );
    const tokens: { name: string }[] = await this.#manage("GET", "/race/tokens");
    this.#once("handoff", round, tokens.filter((found) => found.name === name).length);
    const redeemed = winners[0]?.body.data.token;
    const answer = await this.#query("SELECT 1", redeemed);
    if (answer.status !== 200) {
      this.#wrong.push(`round ${round}: the winner's token answers ${answer.status}`);
    }
  }

  async #execution(round: number): Promise<void> {
    const proposed = await this.#post("propose", { sql: "INSERT INTO applied VALUES (?)", params: [round] });
    const { executionToken } = proposed.body.data;
    await this.#all(
      "execution",
      round,
      (service) => service.call("POST", `${PATH}/apply`, { token: this.#token, body: { executionToken } }),
    );
    this.#once("execution", round, await this.#count("applied", round));
  }

  async #approval(round: number): Promise<void> {
    const held = await this.#query("INSERT INTO held VALUES (?)", this.#token, [round]);
    assertEquals([held.status, held.body.code], [403, "approval_required"]);
    const { approvalToken, approvalUrl } = held.body;
    await this.#manage("POST", `/race/approvals/${approvalUrl.split("/").at(-1)}/approve`);
    await this.#all(
      "approval",
      round,
      (service) =>
        service.call("POST", `${PATH}/redeem_approval`, { token: this.#token, body: { approvalToken } }),
    );
    this.#once("approval", round, await this.#count("held", round));
  }

  /** All at once, spread over the processes; the answers of those who won. */
  async #all(
    kind: Kind,
    round: number,
    redeem: (service: SharedService) => Promise<Answer>,
  ): Promise<Answer[]> {
    const { services } = this;
    const answers = await Promise.all(
      Array.from(
        { length: this.options.redeemers },
        (_, at) => redeem(services[at % services.length] ?? fail()),
      ),
    );
    const winners = answers.filter(({ status }) => status < 300);
    if (winners.length !== 1) this.#wrong.push(`round ${round}: ${winners.length} won one ${kind} token`);
    for (const { status, body } of answers) {
      if (status < 300) continue;
      if (status === 404 && body.code === `${kind}_not_found`) this.#used++;
      else if (BUSY.includes(status)) this.#busy++;
      else this.#wrong.push(`round ${round}: a loser of the ${kind} token got ${status} ${body.code}`);
    }
    return winners;
  }

  #once(kind: Kind, round: number, times: number): void {
    if (times !== 1) this.#wrong.push(`round ${round}: the ${kind} token took effect ${times} times`);
  }

  async #count(table: string, round: number): Promise<number> {
    const answer = await this.#query(`SELECT count(*) FROM ${table} WHERE round = ?`, this.#token, [round]);
    assertEquals(answer.status, 200);
    return answer.body.data.rows[0][0];
  }

  #query(sql: string, token = this.#token, params: readonly unknown[] = []): Promise<Answer> {
    return this.#first.call("POST", `${PATH}/query`, { token, body: { sql, params } });
  }

  async #post(operation: string, body: unknown): Promise<Answer> {
    const answer = await this.#first.call("POST", `${PATH}/${operation}`, { token: this.#token, body });
    assert(answer.status < 300, `${operation}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** The answer's `data`. */
  async #manage(method: string, path: string, body?: unknown) {
    const answer = await this.#first.call(method, `/api/namespaces${path}`, { token: OPERATOR_KEY, body });
    assert(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  get #first(): SharedService {
    return this.services[0] ?? fail();
  }
}

/** A process of its own: `tests/faults/shared_service.ts`. */
class SharedService {
  private constructor(private readonly process: Deno.ChildProcess, private readonly url: string) {}

  static async start(kvPath: string, sqld: Sqld): Promise<SharedService> {
    const script = new URL("./shared_service.ts", import.meta.url).pathname;
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        ...startPermissions(),
        "--no-check",
        script,
        kvPath,
        sqld.url,
        sqld.adminUrl,
        OPERATOR_KEY,
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value = "" } = await reader.read();
    await reader.cancel();
    return new SharedService(child, value.trim());
  }

  async call(
    method: string,
    path: string,
    { token, body }: { readonly token?: string; readonly body?: unknown },
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  async stop(): Promise<void> {
    await this.process.stdin.close();
    assertEquals((await this.process.status).code, 0);
  }
}

function fail(): never {
  throw new TypeError("there is no process");
}
