// The text of a log row: of calls and of merges alike.
import { assertEquals } from "@std/assert";
import { LOG_SQL_BYTES } from "../../lib/core/limits.ts";
import { logText } from "../../lib/core/plain_text.ts";

Deno.test("a long text ends between two characters, as late as it may", () => {
  for (let before = 0; before < 4; before++) {
    const text = "x".repeat(before) + "\u{1f600}".repeat(2000);
    const kept = logText(text);
    assertEquals([kept.isWellFormed(), text.startsWith(kept)], [true, true]);
    const bytes = new TextEncoder().encode(kept).length;
    assertEquals(bytes, before + 4 * Math.floor((LOG_SQL_BYTES - before) / 4));
  }
});

Deno.test("half a surrogate pair becomes a character that every store takes", () => {
  assertEquals(logText("SELECT '\ud83d'"), "SELECT '\ufffd'");
  assertEquals(logText("SELECT '\u{1f600}'"), "SELECT '\u{1f600}'");
});
