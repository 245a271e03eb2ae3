// What is recognised without the schemas is what they would take, and as it is.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isPlainMessage, isPlainPipeline } from "../../routes/hrana/plain_requests.ts";
import { clientMessage, pipelineBody } from "../../routes/hrana/request_schemas.ts";

const odd = fc.constantFrom(null, undefined, true, 1, 1.5, -0, 2 ** 31, Infinity, "", "1", "close", [], {}, [
  1,
]);
/** Right most of the time. */
const or = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: odd });
const member = <T>(right: fc.Arbitrary<T>) => fc.option(or(right), { nil: undefined });

const kinds = ["integer", "text", "float", "null", "blob"];
const value = fc.oneof(
  fc.record({ type: fc.constantFrom("integer", "text"), value: or(fc.string({ maxLength: 5 })) }),
  fc.record({ type: fc.constant("float"), value: or(fc.double()) }),
  fc.constant({ type: "null" }),
  fc.record({ type: or(fc.constantFrom(...kinds)), value: odd, base64: odd }),
);
const text = fc.oneof(
  fc.record({
    sql: or(fc.string({ maxLength: 10 })),
    sql_id: fc.option(odd, { nil: undefined, freq: 1 }),
  }, { requiredKeys: [] }),
  fc.record({ sql_id: or(fc.integer()) }),
);
const rest = fc.record({
  args: member(fc.array(or(value), { maxLength: 3 })),
  named_args: member(fc.constant([])),
  want_rows: member(fc.boolean()),
}, { requiredKeys: [] });
const stmt = fc.tuple(text, rest).map(([text, rest]) => ({ ...text, ...rest }));
const execute = fc.record({ type: or(fc.constant("execute")), stmt: or(stmt) });
const condition = fc.letrec((tie) => ({
  any: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constantFrom("ok", "error"), step: fc.integer({ min: -1, max: 2 }) }),
    },
    fc.constant({ type: "is_autocommit" }),
    fc.record({ type: fc.constant("not"), cond: or(tie("any")) }),
    fc.record({ type: fc.constantFrom("and", "or"), conds: or(fc.array(or(tie("any")), { maxLength: 2 })) }),
  ),
})).any;
const step = fc.record({ stmt: or(stmt), condition: member(fc.option(condition)) }, {
  requiredKeys: ["stmt"],
});
const batch = fc.record({
  type: or(fc.constant("batch")),
  batch: or(fc.record({ steps: or(fc.array(or(step), { maxLength: 4 })) })),
});
const close = fc.record({ type: or(fc.constant("close")) });
const pipeline = fc.record({
  baton: member(fc.constant(null)),
  requests: or(
    fc.oneof(
      fc.tuple(or(execute)),
      fc.tuple(execute, or(close)),
      fc.tuple(execute, close, close),
      fc.tuple(batch, or(close)),
    ),
  ),
});
const id = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const message = fc.record({
  type: or(fc.constant("request")),
  request_id: or(id),
  request: or(fc.oneof(
    fc.record({ type: or(fc.constant("execute")), stream_id: or(id), stmt: or(stmt) }),
    fc.record({ type: fc.constantFrom("open_stream", "close_stream"), stream_id: or(id) }),
    fc.tuple(batch, or(id)).map(([one, stream_id]) => ({ ...one, stream_id })),
  )),
});

/** As it comes from JSON, but for infinities, which JSON can say: `1e999`. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => one === undefined ? null : withoutUndefined(one));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutUndefined(one)]));
}

/**
 * The members of `input` that are in `taken` too: the schemas leave out what the protocol does not know, and nobody reads that.
 * A step without a condition has none, which they write as null.
 */
function known(taken: unknown, input: unknown): unknown {
  if (taken === null && input === undefined) return null;
  if (Array.isArray(taken) && Array.isArray(input)) return input.map((one, at) => known(taken[at], one));
  if (typeof taken !== "object" || taken === null) return input;
  return Object.fromEntries(
    Object.entries(taken).map(([name, one]) => [name, known(one, Reflect.get(Object(input), name))]),
  );
}

const RUNS = { numRuns: 3000 };

Deno.test("a pipeline that is recognised is one that the schema takes as it is", () => {
  let [recognised, batches] = [0, 0];
  fc.assert(
    fc.property(pipeline.map(withoutUndefined), (input) => {
      if (!isPlainPipeline(input)) return;
      recognised++;
      if (input.requests[0]?.type === "batch") batches++;
      const taken = pipelineBody.parse(input);
      assertEquals<unknown>(taken, known(taken, { baton: null, ...input }));
    }),
    RUNS,
  );
  assert(recognised > RUNS.numRuns / 10, String(recognised));
  assert(batches > RUNS.numRuns / 100, String(batches));
});

Deno.test("a message that is recognised is one that the schema takes as it is", () => {
  let recognised = 0;
  fc.assert(
    fc.property(message.map(withoutUndefined), (input) => {
      if (!isPlainMessage(input)) return;
      recognised++;
      const taken = clientMessage.parse(input);
      assertEquals<unknown>(taken, known(taken, input));
    }),
    RUNS,
  );
  assert(recognised > RUNS.numRuns / 10, String(recognised));
});

Deno.test("what clients send most is recognised, and nothing that keeps a stream", () => {
  const execute = { type: "execute", stmt: { sql: "SELECT ?", args: [{ type: "integer", value: "1" }] } };
  const close = { type: "close" };
  assert(
    isPlainPipeline({ baton: null, requests: [execute, close] }) && isPlainPipeline({ requests: [execute] }),
  );
  const stored = { type: "execute", stmt: { sql_id: 7, args: [], named_args: [], want_rows: true } };
  const requests = [execute, stored, { type: "open_stream" }, { type: "close_stream" }];
  for (const request of requests) {
    assert(isPlainMessage({ type: "request", request_id: 1, request: { ...request, stream_id: 1 } }));
  }
  const ok = { type: "ok", step: 0 };
  const chained = { type: "and", conds: [ok, { type: "not", cond: { type: "is_autocommit" } }] };
  const { stmt } = execute;
  const batch = {
    type: "batch",
    batch: { steps: [{ stmt }, { stmt, condition: chained }, { stmt, condition: null }] },
  };
  assert(isPlainPipeline({ baton: null, requests: [batch, close] }));
  assert(isPlainMessage({ type: "request", request_id: 1, request: { ...batch, stream_id: 1 } }));
  for (
    const other of [
      { requests: [{ type: "batch", batch: { steps: [{ stmt, condition: ok }] } }] },
      { baton: "str_1.1.x", requests: [execute] },
      { requests: [{ type: "store_sql", sql_id: 1, sql: "" }] },
    ]
  ) assert(!isPlainPipeline(other));
});
