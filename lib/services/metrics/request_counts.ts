// Counts the requests of the process. Each of them passes here, so it costs a few additions and one more look at the clock of
// milliseconds, some 0.15 µs; two looks at the monotonic one alone would take longer.
import { byLabel, counter, gauge, type MetricFamily, type MetricSample } from "../../core/metrics.ts";

/** The surfaces, and the first words of their paths. All other paths are `other`. */
const surfaces: Readonly<Record<string, readonly string[]>> = {
  v1: ["v1"],
  api: ["api"],
  p: ["p"],
  console: ["console"],
  hrana: ["hrana", "v2", "v3"],
  mcp: ["mcp"],
  oauth: ["oauth"],
  docs: ["docs", "", "llms.txt"],
  other: [],
};

const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Seconds up to which a request counts in a bucket. The clock is that of the request's id: it tells milliseconds. */
const BUCKETS_SEC = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** The requests of one surface. */
class SurfaceCounts {
  readonly byClass = new Float64Array(STATUS_CLASSES.length);
  /** Each request in the smallest bucket that has room for it; the last one is for those above all. */
  readonly inBucket = new Float64Array(BUCKETS_SEC.length + 1);
  sumMs = 0;
}

/** The requests of the process since its start. */
export class RequestCounts {
  readonly #surfaces = Object.entries(surfaces).map(([surface, words]) => ({
    surface,
    words,
    counts: new SurfaceCounts(),
  }));
  readonly #byWord = new Map(
    this.#surfaces.flatMap(({ words, counts }) => words.map((word) => [word, counts] as const)),
  );
  readonly #other = this.#surfaces.find(({ words }) => words.length === 0)?.counts ?? new SurfaceCounts();
  readonly #failures = new Map<string, number>();
  #inFlight = 0;

  /** `startedMs`: unix milliseconds. */
  constructor(readonly startedMs: number) {}

  begin(): void {
    this.#inFlight++;
  }

  /** To be called when the answer begins. `tookMs` is that of a clock that may have been put back meanwhile. */
  end(path: string, status: number, tookMs: number): void {
    this.#inFlight--;
    const counts = this.#byWord.get(firstWord(path)) ?? this.#other;
    const ms = tookMs > 0 ? tookMs : 0;
    let bucket = 0;
    while (ms > (BUCKETS_SEC[bucket] ?? Infinity) * 1000) bucket++;
    add(counts.byClass, Math.floor(status / 100) - 1);
    add(counts.inBucket, bucket);
    counts.sumMs += ms;
  }

  /** Notes that the answer was an error. `code` is one of the table of error codes. */
  failed(code: string): void {
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1);
  }

  families(): MetricFamily[] {
    return [
      counter(
        "http_requests",
        "Requests that were answered",
        this.#surfaces.flatMap(({ surface, counts: { byClass } }) =>
          STATUS_CLASSES.map((status, at) => ({ labels: { surface, status }, value: byClass[at] ?? 0 }))
        ),
      ),
      {
        name: "http_request_duration_seconds",
        type: "histogram",
        help: "Seconds until the answer began, to the millisecond",
        samples: this.#surfaces.flatMap(({ surface, counts }) => histogram(surface, counts)),
      },
      gauge(
        "http_requests_in_flight",
        "Requests whose answer has not begun, this one included",
        this.#inFlight,
      ),
      counter(
        "http_errors",
        "Answers that were errors, by their code; not what is told inside of an answer",
        byLabel("code", Object.fromEntries(this.#failures)),
      ),
    ];
  }
}

function firstWord(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path.slice(1) : path.slice(1, end);
}

function add(counts: Float64Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}

function histogram(surface: string, { inBucket, sumMs }: SurfaceCounts): MetricSample[] {
  let value = 0;
  const buckets = [...BUCKETS_SEC, "+Inf"].map((le, at): MetricSample => {
    value += inBucket[at] ?? 0;
    return { suffix: "_bucket", labels: { surface, le: String(le) }, value };
  });
  return [
    ...buckets,
    { suffix: "_sum", labels: { surface }, value: sumMs / 1000 },
    { suffix: "_count", labels: { surface }, value },
  ];
}
