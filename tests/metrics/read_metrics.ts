// Reads the text of `/metrics` by the grammar of the format, and refuses what no scraper would take.
import { assert, assertEquals } from "@std/assert";

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const HELP_LINE = new RegExp(`^# HELP (${NAME}) (.+)$`);
const TYPE_LINE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`);
const SAMPLE_LINE = new RegExp(
  `^(${NAME})((?:\\{${LABEL}(?:,${LABEL})*\\})?) (-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`,
);

export interface Metrics {
  /** `name{labels}` as it stands there → its value. */
  readonly samples: ReadonlyMap<string, number>;
  /** Name → its type. */
  readonly types: ReadonlyMap<string, string>;
}

/** Each line is one of the format, each family has its help and type before its samples, and nothing is there twice. */
export function readMetrics(text: string): Metrics {
  assert(text.endsWith("\n"));
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  let family = "";
  let helped = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, help] = HELP_LINE.exec(line) ?? [];
    const [, name, type] = TYPE_LINE.exec(line) ?? [];
    const [, sample, labels, value] = SAMPLE_LINE.exec(line) ?? [];
    if (help !== undefined) {
      helped = help;
    } else if (name !== undefined && type !== undefined) {
      assertEquals(name, helped, "a type stands behind its help");
      assert(!types.has(name), `${name} is there twice`);
      assert(name.startsWith("cubby_"), name);
      assertEquals(name.endsWith("_total"), type === "counter", name);
      types.set(family = name, type);
    } else {
      assert(sample !== undefined && value !== undefined, `no line of the format: ${line}`);
      const base = types.get(family) === "histogram" ? sample.replace(/_(?:bucket|sum|count)$/, "") : sample;
      assertEquals(base, family, "samples stand behind their own type");
      assert(!samples.has(sample + labels), `${sample}${labels} is there twice`);
      samples.set(sample + labels, Number(value));
    }
  }
  return { samples, types };
}

/** What has become of the samples of a scrape by a later one, those that have not changed left out. */
export function changes(before: Metrics, after: Metrics): Record<string, number> {
  const changed: Record<string, number> = {};
  for (const [sample, value] of after.samples) {
    const difference = value - (before.samples.get(sample) ?? 0);
    if (difference !== 0) changed[sample] = difference;
  }
  return changed;
}
