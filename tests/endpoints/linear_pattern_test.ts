// Patterns of inputs: what they match, and that no pattern and text together take more than linear time.
import { assert, assertEquals } from "@std/assert";
import { RE2JS } from "re2js";
import { compilePattern } from "../../lib/core/linear_pattern.ts";
import { patternSize } from "../../lib/core/pattern_size.ts";
import { type CheckSync, patternIssue } from "../../lib/services/endpoints/spec/pattern_issue.ts";

const texts = [
  "",
  "a",
  "abc",
  "ABC",
  "a1",
  "2026-11-20",
  "é",
  "😀",
  "a\nb",
  "a b",
  "x".repeat(300),
  "user@example.com",
  "-",
  "\\",
  "/",
  // All that is white space or ends a line, and neighbours of it.
  ..."\t\n\v\f\r\u001c\u0085\u00a0\u1680\u180e\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\uffff",
  ..."ada\u00a0|ada\u3000|a\rb|a\u2028b|a\u2029b".split("|"),
];
const patterns = [
  ...[
    "^[a-z]+$",
    "b",
    "^$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^.{1,3}$",
    "^[^@\\s]+@example\\.com$",
    "^\\u00e9$",
    "^\\w+$",
  ],
  ...[
    "^(?:a|ab)(?:c|bcd)?$",
    "^\\u{1F600}$",
    "\\bb",
    "^\\p{Lu}+$",
    "^a\\/?$|^\\/$",
    "[\\w.-]",
    "^\\x61",
    "^[^]$",
    "a$",
    "^\\\\$",
  ],
  ...[
    "^\\S+$",
    "^\\s$",
    "^[\\s]$",
    "^[^\\s]$",
    "^[\\S]$",
    "^[^\\S]$",
    "^[\\s\\S]$",
    "^[\\d\\s_-]$",
    "^.$",
    "^.+$",
    "^[.]$",
  ],
  ...["^\\.$", "^(?s:.)$", "^(?i:A.b)$", "^[\\]\\s]$", "^[^\\n]$", "^\\\\s$", "^a\\sb$", "^\\w+\\S?$"],
];

Deno.test("a pattern matches what JavaScript's own engine matches", () => {
  for (const source of patterns) {
    const pattern = compilePattern(source);
    assert(pattern.ok, source);
    const own = new RegExp(source, "u");
    for (const text of texts) {
      assertEquals(pattern.test(text), own.test(text), `${source} on ${JSON.stringify(text)}`);
    }
  }
});

Deno.test("what needs backtracking, or means something else elsewhere, does not compile", () => {
  for (
    const source of [
      ...[
        "(",
        "[",
        "a**",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        "(a)\\1",
        "(?<x>a)\\k<x>",
        "\\z",
        "\\A",
        "\\Qa",
      ],
      ...["[[:alpha:]]", "(?i)a", "(?P<x>a)", "a++", "((a{1,50}){1,50}){1,50}", "\\C", "\\N{DASH}"],
    ]
  ) {
    assertEquals(compilePattern(source).ok, false, source);
  }
});

Deno.test("hostile patterns end on hostile texts however long", () => {
  const text = `${"a".repeat(200_000)}!`;
  for (const source of ["^(a+)+$", "(a|aa)+$", "^(a|a?)+$", "(.*a){12}$", "a*a*a*a*a*a*a*b"]) {
    const pattern = compilePattern(source);
    assert(pattern.ok, source);
    assertEquals(pattern.test(text), false, source);
  }
});

/** What is said of a pattern that can be judged: a busy machine may have had no time for it, and looks again. */
async function judged(source: string): Promise<string | null> {
  for (let tries = 1;; tries++) {
    const issue = await patternIssue(source);
    if (tries === 20 || !issue?.includes("in time")) return issue;
  }
}

Deno.test("patterns that a backtracking engine would choke on are not saved, plain ones are", async () => {
  for (const source of ["^(a+)+$", "(a|a)*b$", "^(a|b|ab)*$", "\\s+$", "^(.*a){10}$", "^(\\w+\\s?)*$"]) {
    assert((await judged(source))?.includes("more than linearly, such as"), source);
  }
  assert((await patternIssue("(a{1,900}b?)*"))?.includes("simpler"));
  for (
    const source of [
      "^[a-z]+$",
      "^[a-z0-9]+(-[a-z0-9]+)*$",
      "^.{1,500}$",
      "^\\+?[0-9 ]{6,20}$",
      "foo|bar",
      "^\\p{L}+$",
    ]
  ) {
    assertEquals(await judged(source), null, source);
  }
});

Deno.test("a pattern that could not be judged in time is judged again, one that could is not", async () => {
  const statuses: ReturnType<CheckSync>["status"][] = ["unknown", "safe", "vulnerable"];
  const load = () => Promise.resolve(() => ({ status: statuses.shift() ?? "vulnerable" } as const));
  const source = "^judged-again$";
  assert((await patternIssue(source, load))?.includes("in time"));
  assertEquals(await patternIssue(source, load), null);
  assertEquals(await patternIssue(source, load), null);
  assertEquals(statuses, ["vulnerable"]);
});

Deno.test("a pattern with syntax that the search does not know is told so: to try again would not help", async () => {
  for (const source of ["^(?i:a)$", "^(?s-i:a.b)$"]) {
    const issue = await patternIssue(source);
    assertEquals([issue?.includes("modifiers"), issue?.includes("in time")], [true, false], source);
  }
});

Deno.test("a pattern is compiled once, however many specifications have it and however often they are read", () => {
  const source = "^[a-z]{2,40}-\\d{4}$";
  const [first, again] = [compilePattern(source), compilePattern(`${source}`)];
  assert(first.ok && again.ok);
  assert(first.test === again.test);
});

Deno.test("patterns that are kept stay within their bound, and each still matches its own texts", () => {
  for (let i = 0; i < 300; i++) {
    const pattern = compilePattern(`^(?:${i}x){400}$`);
    assert(pattern.ok);
    assertEquals([pattern.test(`${i}x`.repeat(400)), pattern.test(`${i}x`.repeat(399))], [true, false]);
  }
});

Deno.test("a pattern that would become far too large is refused before it is compiled, and a large one that is small compiled is taken", () => {
  const compile = RE2JS.compile;
  const compiled: string[] = [];
  RE2JS.compile = (source, flags) => {
    compiled.push(source);
    return compile.call(RE2JS, source, flags);
  };
  try {
    for (
      const source of [
        "a{1,1000}".repeat(50),
        `(${"abc[d-z]".repeat(50)}){1000}`,
        "(?:(?:x{10}){10}){1,900}",
        "\\p{L}{0,900}x".repeat(30),
      ]
    ) {
      const pattern = compilePattern(source);
      assertEquals(pattern.ok ? "" : pattern.reason, "Write a smaller regex; this one is too large", source);
    }
    assertEquals(compiled, []);
    assert(compilePattern("^(a|b|c|d|e|f){1,1000}$").ok);
    assertEquals(compiled, ["^(a|b|c|d|e|f){1,1000}$"]);
  } finally {
    RE2JS.compile = compile;
  }
});

Deno.test("a pattern's size is told from its text: repetitions count, whatever is escaped, in classes or in names of groups", () => {
  const sizes: readonly (readonly [string, number])[] = [
    ...[["abc", 3], ["a{3}", 3], ["a{2,5}b", 6], ["(ab){2,}", 4], ["a*?b+", 2], ["a{0}b", 1]] as const,
    ...[["(?:ab){0,3}c", 7], ["(?<name>x){2}", 2], ["((a{2}){3}){4}", 24], ["^a|b$", 4]] as const,
    ...[["[a-z\\]]{10}?", 10], ["\\p{L}{5}", 5], ["\\u{1F600}{2}", 2], ["\\({3}", 3]] as const,
    ...[["[(]{3}(b{2})", 5], ["a{,5}", 5]] as const,
  ];
  assertEquals(sizes.map(([source]) => [source, patternSize(source)]), sizes.map((one) => [...one]));
});

Deno.test("others have their turn between the patterns of a specification", async () => {
  let turns = 0;
  let isOn = true;
  const counted = (async () => {
    for (; isOn; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  for (let at = 0; at < 20; at++) await patternIssue(`(${at}a|b){1,100}`.repeat(10));
  isOn = false;
  await counted;
  assert(turns >= 19, String(turns));
});
