// An app with a database, and transactions over several requests in it, below the doors that offer them.
import { assert } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import type { Role } from "../../lib/core/role.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import type { QueryAnswer } from "../../lib/query/query_call.ts";
import { beginTransaction } from "../../lib/query/transaction/begin_transaction.ts";
import type {
  InteractiveTransaction,
  TransactionCall,
  TransactionMode,
} from "../../lib/query/transaction/interactive_transaction.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { rowsOf } from "../testing/test_namespace.ts";

/** A transaction, with short ways to run statements in it. */
export interface TestTransaction extends InteractiveTransaction {
  /** Runs one statement. */
  exec(sql: string, params?: readonly SqlParameter[], more?: Partial<TransactionCall>): Promise<QueryAnswer>;
  /** The rows of a statement. */
  rows(sql: string): Promise<unknown>;
  /** The code of the error with which a statement fails; null where it does not. */
  code(sql: string, more?: Partial<TransactionCall>): Promise<string | null>;
}

export interface TransactionWorld {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  begin(
    mode?: TransactionMode,
    who?: { readonly role?: Role; readonly tokenId?: string; readonly signal?: AbortSignal },
  ): Promise<TestTransaction>;
  /** The rows of a statement outside of any transaction. */
  rows(sql: string): Promise<unknown[][]>;
}

/** The world of a namespace of the app. */
export async function worldIn(app: StartedApp, slug = "acme"): Promise<TransactionWorld> {
  const tenant = await app.namespace(slug);
  const found = await app.deps.control.namespaces.bySlug(slug);
  const namespaceId = found?.id ?? "";
  const begin: TransactionWorld["begin"] = async (
    mode = "deferred",
    { role = "admin", tokenId = tenant.id, ...more } = {},
  ) =>
    withWays(
      await beginTransaction(app.deps.query, {
        target: {
          namespaceId,
          namespaceSlug: slug,
          databaseId: tenant.database.id,
          databaseSlug: "main",
          branchRef: "trunk",
          role,
        },
        tokenId,
        userId: null,
        mode,
        ...more,
      }),
      role,
    );
  return { app, tenant, begin, rows: async (sql) => rowsOf(await tenant.query(sql)) };
}

/** For a test that needs an app of its own. */
export async function withTransactions(
  run: (world: TransactionWorld) => Promise<void>,
  options: StartAppOptions = {},
): Promise<void> {
  await using app = await startApp(options);
  await run(await worldIn(app));
}

/** The code of the error of a promise; null where it does not fail. */
export async function codeOf(work: Promise<unknown>): Promise<string | null> {
  return (await messageOf(work))[0];
}

/** The code and the message of that error. */
export async function messageOf(work: Promise<unknown>): Promise<readonly [string | null, string]> {
  try {
    await work;
    return [null, ""];
  } catch (error) {
    assert(error instanceof AppError, String(error));
    return [error.code, error.message];
  }
}

function withWays(transaction: InteractiveTransaction, role: Role): TestTransaction {
  const exec: TestTransaction["exec"] = (sql, params = [], more = {}) =>
    transaction.run({
      statements: [{ sql, params }],
      role,
      atomic: true,
      batch: false,
      rowForm: PLAIN_ROWS,
      maxAffected: null,
      snapshots: true,
      opensRequest: true,
      signal: () => null,
      ...more,
    });
  return {
    get autocommit() {
      return transaction.autocommit;
    },
    get lost() {
      return transaction.lost;
    },
    get sees() {
      return transaction.sees;
    },
    run: (call) => transaction.run(call),
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
    savepoint: (verb, name) => transaction.savepoint(verb, name),
    abandon: () => transaction.abandon(),
    rest: () => transaction.rest(),
    exec,
    rows: async (sql) => JSON.parse(`${(await exec(sql)).results[0]?.json}}`).rows,
    code: (sql, more) => codeOf(exec(sql, [], more)),
  };
}
