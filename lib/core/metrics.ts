// Figures of the process in the text format of Prometheus, version 0.0.4.

/** The `Content-Type` of the text. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** One figure of a family. */
export interface MetricSample {
  readonly value: number;
  /** None of them holds anything of a tenant: the number of samples has a bound that no data moves. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Of a histogram: what stands behind the name. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
}

/** Figures of one name. Counters begin at zero with the process. */
export interface MetricFamily {
  /** Without `cubby_`; that of a counter ends in `_total`. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

/** A family that only grows. */
export function counter(name: string, help: string, value: number | readonly MetricSample[]): MetricFamily {
  return { name: `${name}_total`, type: "counter", help, samples: samplesOf(value) };
}

/** A family that rises and falls. */
export function gauge(name: string, help: string, value: number | readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", help, samples: samplesOf(value) };
}

/** One sample for each member, whose name is the label's value. */
export function byLabel(label: string, values: Readonly<Record<string, number>>): MetricSample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

/** The text that is scraped. */
export function metricsText(families: readonly MetricFamily[]): string {
  return families.map(({ name, type, help, samples }) => {
    const lines = samples.map(({ suffix = "", labels = {}, value }) =>
      `cubby_${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`
    );
    return `# HELP cubby_${name} ${escaped(help)}\n# TYPE cubby_${name} ${type}\n${lines.join("")}`;
  }).join("");
}

function samplesOf(value: number | readonly MetricSample[]): readonly MetricSample[] {
  return typeof value === "number" ? [{ value }] : value;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) =>
    `${name}="${escaped(value).replaceAll('"', '\\"')}"`
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
