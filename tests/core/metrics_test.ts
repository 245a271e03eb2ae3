// The text format: what escapes, and how numbers stand.
import { assertEquals } from "@std/assert";
import { byLabel, counter, gauge, metricsText } from "../../lib/core/metrics.ts";

Deno.test("metricsText() escapes what would end a line or a label", () => {
  const samples = byLabel("kind", { 'a "b" \\ c\nd': 1 });
  assertEquals(
    metricsText([counter("things", 'Things, "as \\ they"\nare', samples)]),
    '# HELP cubby_things_total Things, "as \\\\ they"\\nare\n# TYPE cubby_things_total counter\n' +
      'cubby_things_total{kind="a \\"b\\" \\\\ c\\nd"} 1\n',
  );
});

Deno.test("metricsText() writes numbers as scrapers read them", () => {
  const values = [0, 1.5, 1e21, NaN, Infinity, -Infinity];
  const text = metricsText(values.map((value) => gauge("n", "A number", value)));
  assertEquals(
    text.split("\n").filter((line) => !line.startsWith("#")).slice(0, -1),
    ["0", "1.5", "1e+21", "NaN", "+Inf", "-Inf"].map((value) => `cubby_n ${value}`),
  );
});
