// Patterns of inputs: what they match, and that no pattern and text together take more than linear time.
import { assert, assertEquals } from "@std/assert";
import { compilePattern } from "../../lib/core/linear_pattern.ts";
import { patternIssue } from "../../lib/services/endpoints/pattern_issue.ts";

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

Deno.test("patterns that a backtracking engine would choke on are not saved, plain ones are", async () => {
  for (const source of ["^(a+)+$", "(a|a)*b$", "^(a|b|ab)*$", "\\s+$", "^(.*a){10}$", "^(\\w+\\s?)*$"]) {
    assert((await patternIssue(source))?.includes("backtrack"), source);
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
    assertEquals(await patternIssue(source), null, source);
  }
});
