// What the largest body that a published endpoint takes costs before anything runs, whatever it is made of:
// a part of published_bench.ts. Goal: ≤ 20 ms each. One thread that computes, so the shortest of many runs is what a
// quiet machine takes.
import type { EndpointSpec, FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { MAX_PUBLISHED_BODY_BYTES } from "../../lib/core/limits.ts";
import { decodeBody } from "../../lib/services/published/decode_input.ts";
import { prepareSpec } from "../../lib/services/endpoints/spec/prepare_spec.ts";
import { validateInput } from "../../lib/services/endpoints/spec/validate_input.ts";
import { print } from "../testing/print.ts";

const GOAL_MS = 20;
const RUNS_A_ROUND = 5;

interface Body {
  readonly title: string;
  readonly input: readonly FieldSpec[];
  readonly text: string;
}

const v = (field: Omit<FieldSpec, "name">): FieldSpec[] => [{ name: "v", ...field }];
const text = v({ type: "text" });
const json = v({ type: "json" });
/** `{"v":<inside>}`, filled up to the limit with `part` as often as it fits. */
function filled(before: string, part: string, after: string): string {
  const room = MAX_PUBLISHED_BODY_BYTES - before.length - after.length;
  const bytes = new TextEncoder().encode(part).length;
  return before + part.repeat(Math.floor(room / bytes)) + after;
}

const bodies: readonly Body[] = [
  { title: "one text", input: text, text: filled('{"v":"', "a", '"}') },
  { title: "one text of two-byte characters", input: text, text: filled('{"v":"', "ä", '"}') },
  { title: "one text of escapes", input: text, text: filled('{"v":"', "\\u00e4", '"}') },
  { title: "one text of quotes", input: text, text: filled('{"v":"', '\\"', '"}') },
  {
    title: "a pattern that fails at the end",
    input: v({ type: "text", pattern: "^(a+)+$" }),
    text: filled('{"v":"', "a", '!"}'),
  },
  {
    title: "a length in code points",
    input: v({ type: "text", maxLength: 600_000 }),
    text: filled('{"v":"', "a", '"}'),
  },
  { title: "an address of mail", input: v({ type: "email" }), text: filled('{"v":"', "a@", '"}') },
  { title: "a URL", input: v({ type: "url" }), text: filled('{"v":"http://', "a", '"}') },
  { title: "digits for an integer", input: v({ type: "integer" }), text: filled('{"v":"', "9", '"}') },
  { title: "a number of digits", input: v({ type: "number" }), text: filled('{"v":', "9", "}") },
  { title: "a list of numbers", input: json, text: filled('{"v":[1', ",1", "]}") },
  {
    title: "a list of numbers, one of them long",
    input: json,
    text: filled('{"v":[0.1234567890123456', ",1", "]}"),
  },
  { title: "a list of long numbers", input: json, text: filled('{"v":[1', ",0.1234567890123456", "]}") },
  { title: "a list of lists", input: json, text: filled('{"v":[[]', ",[]", "]}") },
  {
    title: "lists in lists",
    input: json,
    text: `{"v":${filled("", "[", "").slice(0, 500_000)}${"]".repeat(500_000)}}`,
  },
  { title: "a list of objects", input: json, text: filled('{"v":[{}', ',{"a":"b"}', "]}") },
  {
    title: "unknown names",
    input: text,
    text: `{${Array.from({ length: 80_000 }, (_, at) => `"n${at}":1`).join()}}`.slice(
      0,
      MAX_PUBLISHED_BODY_BYTES,
    ),
  },
  { title: "one name over and over", input: text, text: filled('{"v":1', ',"v":1', "}") },
  {
    title: "a hundred fields of every type",
    input: Array.from({ length: 100 }, (_, at) => ({
      name: `f${at}`,
      type: at % 2 === 0 ? "text" : "json",
      ...(at % 4 === 0 ? { pattern: "^[a-z ]*$" } : {}),
    })),
    text: `{${Array.from({ length: 100 }, (_, at) => `"f${at}":"${"lorem ipsum ".repeat(860)}"`).join()}}`,
  },
];

/** Prints a line for each body. */
export function measureValidation(rounds: number): void {
  for (const { title, input, text: body } of bodies) {
    const bytes = new TextEncoder().encode(body).length;
    if (bytes > MAX_PUBLISHED_BODY_BYTES) throw new RangeError(`${title} has ${bytes} bytes`);
    const prepared = prepareSpec(specOf(input));
    const times = Array.from({ length: rounds * RUNS_A_ROUND }, () => timed(prepared, body));
    times.sort((a, b) => a - b);
    const [best = 0] = times;
    const median = times[times.length >> 1] ?? 0;
    print(
      `validation, ${title}, ${Math.round(bytes / 1024)} KiB: ${best.toFixed(1)} ms, median ${
        median.toFixed(1)
      } ms ` +
        `(goal ${GOAL_MS} ms ${best <= GOAL_MS ? "✓" : "✗"})`,
    );
  }
}

function timed(prepared: ReturnType<typeof prepareSpec>, body: string): number {
  const startedMs = performance.now();
  try {
    validateInput(prepared, decodeBody(body));
  } catch {
    // A refusal costs what it costs as well.
  }
  return performance.now() - startedMs;
}

function specOf(input: readonly FieldSpec[]): EndpointSpec {
  return {
    ...{ slug: "bench", name: "Bench", kind: "query", method: "POST", sql: "SELECT 1", output: "rows" },
    input: [...input],
  };
}
