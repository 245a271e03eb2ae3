// A stream with its transaction: whose it is, who is let in once more, and what is left of it when it has ended.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { StoredTexts } from "../../lib/services/hrana/stored_texts.ts";
import { HranaStream } from "../../lib/services/hrana/stream.ts";
import type { TransactionControl } from "../../lib/sql/tokens/transaction_control.ts";

type Transaction = NonNullable<HranaStream["transaction"]>;

const BEGIN: TransactionControl = { verb: "begin", mode: "deferred" };

function streamWorld() {
  const done: string[] = [];
  const state = { lost: null as string | null, isAdmitted: true, commits: null as AppError | null };
  const own: Pick<Transaction, "autocommit" | "lost" | "commit" | "rollback" | "abandon"> = {
    autocommit: false,
    get lost() {
      return state.lost;
    },
    commit: () => {
      done.push("commit");
      return state.commits === null ? Promise.resolve() : Promise.reject(state.commits);
    },
    rollback: () => Promise.resolve(void done.push("rollback")),
    abandon: () => void done.push("abandon"),
  };
  const stream = new HranaStream(new StoredTexts());
  /** Guarantee: a stream asks its caller for nothing else. */
  const callerOf = (tokenId: string, databaseId: string) => {
    const ctx: Partial<DoorContext> = {
      ...{ tokenId, clock: { now: () => 1000, monotonicMs: () => 1000 } },
      target: { ...place, databaseId },
      begin: () => Promise.resolve(own as Transaction),
      readmit: () => {
        done.push("readmit");
        return state.isAdmitted ? Promise.resolve() : Promise.reject(new AppError("invalid_bearer"));
      },
    };
    return ctx as DoorContext;
  };
  /** What it came to: the code of a failure, null without one. */
  const control = (
    verb: TransactionControl,
    { beganMs = 1000, signal = null }: { beganMs?: number; signal?: AbortSignal | null } = {},
  ) =>
    stream.control(callerOf("a", "db_1"), verb, { beganMs, signal: () => signal }).then(
      () => null,
      (error) => error instanceof AppError ? error.code : String(error),
    );
  return { stream, done, state, callerOf, control };
}

const place = {
  ...{ namespaceId: "ns_1", namespaceSlug: "acme", databaseSlug: "main", branchRef: "main" },
  role: "write" as const,
};

Deno.test("another token, or the same in another database, has lost what was begun", async () => {
  for (const [tokenId, databaseId] of [["b", "db_1"], ["a", "db_2"]] as const) {
    const { stream, done, callerOf, control } = streamWorld();
    assertEquals(await control(BEGIN), null);
    stream.requireOwner(callerOf("a", "db_1"));
    assertEquals(done, []);
    let code = "";
    try {
      stream.requireOwner(callerOf(tokenId, databaseId));
    } catch (error) {
      code = error instanceof AppError ? error.code : String(error);
    }
    assertEquals([code, done], ["transaction_timeout", ["abandon"]]);
  }
});

Deno.test("late in a request its caller is let in once more, but to roll back", async () => {
  const { done, state, control } = streamWorld();
  assertEquals(await control(BEGIN), null);
  state.isAdmitted = false;
  const late = { beganMs: 0 };
  assertEquals(await control({ verb: "commit" }, late), "invalid_bearer");
  assertEquals(done, ["readmit"]);
  assertEquals(await control({ verb: "rollback" }, late), null);
  assertEquals(done, ["readmit", "rollback"]);
});

Deno.test("behind the end of a lost transaction there is none; one whose commit was refused goes on", async () => {
  const { stream, state, control } = streamWorld();
  await control(BEGIN);
  state.commits = new AppError("sql_error");
  assertEquals([await control({ verb: "commit" }), stream.autocommit], ["sql_error", false]);
  state.commits = new AppError("transaction_timeout");
  state.lost = "its time was up";
  assertEquals([await control({ verb: "commit" }), stream.autocommit], ["transaction_timeout", true]);
});

Deno.test("a transaction whose caller has gone while it waited for its turn is given up", async () => {
  const { done, control } = streamWorld();
  assertEquals(await control(BEGIN, { signal: AbortSignal.abort() }), null);
  assertEquals(done, ["abandon"]);
});
