// `deno run -A tests/bench/hot_spots.ts [--seconds N] [--only read-32,insert-8,…]`: where the serving thread spends its processor
// time, by function, in microseconds a call. The kernel samples it (Linux `perf`, which needs wrk beside it), V8 names the code that
// it has compiled. Native code, the C library and the kernel count for the function that called them.
import { print } from "../testing/print.ts";
import { benchCases, fillTables } from "./bench_cases.ts";
import { benchOptions } from "./bench_options.ts";
import { chooseLoad, type LoadResult } from "./load.ts";
import { outputOf } from "./output_of.ts";
import { type ServiceTarget, serviceTarget } from "./service_target.ts";

/** Samples a second: not a divisor of the kernel's own ticks. */
const RATE = 4999;
const SHOWN = 50;
/** What has no function of ours above it: the event loop, the server, the collector of garbage. */
const NONE = "none";
const KINDS = ["js", "native", "libc", "kernel"] as const;

type Kind = typeof KINDS[number];

/** Compiled code: where it begins, how long it is, whose it is. */
interface Code {
  readonly from: number;
  readonly bytes: number;
  readonly name: string;
}

const options = benchOptions(Deno.args, benchCases.map(({ name }) => name));
const { load } = await chooseLoad();
/** V8 would also write a log of its own into the present folder. */
const NAMED = { DENO_V8_FLAGS: "--perf-basic-prof,--logfile=/dev/null,--no-logfile-per-isolate" };
const service = await serviceTarget(null, NAMED);
const names = `/tmp/perf-${service.pid}.map`;
try {
  await fillTables(service, service.query);
  for (const { name, connections, requests } of benchCases) {
    if (!(options.only.length === 0 ? name === "read-32" : options.only.includes(name))) continue;
    const order = { url: service.url, requests: requests(service), connections, seconds: options.seconds };
    // A service that has just been started compiles itself first.
    for (let round = 0; round < 2; round++) await load(order);
    const [loaded, { samples, code }] = await Promise.all([load(order), sampled(service)]);
    report(name, loaded, timesOf(samples, code));
  }
} finally {
  await service.stop();
  await Deno.remove(names);
}

/** Samples of the thread that serves while the load lasts, as text, and the code that there was then. */
async function sampled(service: ServiceTarget): Promise<{ samples: string; code: Code[] }> {
  const file = await Deno.makeTempFile({ prefix: "bench_perf_" });
  try {
    const seconds = Math.max(1, options.seconds - 1);
    const record = ["record", "-q", "-e", "cpu-clock", "-F", String(RATE), "--call-graph", "fp"];
    await outputOf(Deno.cwd(), "perf", [
      ...record,
      "-t",
      String(service.pid),
      "-o",
      file,
      "--",
      "sleep",
      String(seconds),
    ]);
    const code = codeOf(await Deno.readTextFile(names));
    return { samples: await outputOf(Deno.cwd(), "perf", ["script", "-i", file, "-F", "ip,sym,dso"]), code };
  } finally {
    await Deno.remove(file);
  }
}

/** V8 writes a line for each piece of code: its address and length in hexadecimal, and a name. Later ones take the place of earlier. */
function codeOf(map: string): Code[] {
  return map.split("\n").reverse().flatMap((line) => {
    const [from = "", bytes = "", ...name] = line.split(" ");
    return name.length === 0
      ? []
      : [{ from: parseInt(from, 16), bytes: parseInt(bytes, 16), name: name.join(" ") }];
  });
}

/** Shares of all samples by function and kind. */
function timesOf(samples: string, code: readonly Code[]): Map<string, Map<Kind, number>> {
  const known = new Map<number, string>();
  const nameAt = (address: number): string => {
    let name = known.get(address);
    if (name === undefined) {
      name = code.find(({ from, bytes }) => from <= address && address < from + bytes)?.name ?? "unknown";
      known.set(address, name);
    }
    return name;
  };
  const stacks = samples.split("\n\n").map((stack) => stack.trim().split("\n")).filter(([first]) =>
    first !== ""
  );
  const times = new Map<string, Map<Kind, number>>();
  for (const stack of stacks) {
    const own = stack.find((frame) => frame.includes("/perf-"));
    const owner = own === undefined ? NONE : readable(nameAt(parseInt(own.trim(), 16)));
    const kinds = times.get(owner) ?? new Map<Kind, number>();
    const kind = kindOf(stack[0] ?? "");
    times.set(owner, kinds.set(kind, (kinds.get(kind) ?? 0) + 1 / stacks.length));
  }
  return times;
}

function kindOf(frame: string): Kind {
  if (frame.includes("/perf-")) return "js";
  if (frame.includes("[kernel") || frame.includes("[vdso]")) return "kernel";
  return frame.includes("/libc.") ? "libc" : "native";
}

/** `JS:*name file:///…/lib/query/run.ts:50:147` without the folder, and without V8's mark of the compiler. */
function readable(name: string): string {
  return name.replace(/^JS:\W+/, "").replace(
    /file:\S*\/(?=(?:lib|routes)\/)|file:\S*\/registry\.npmjs\.org\//,
    "",
  );
}

function report(
  name: string,
  { perSecond }: LoadResult,
  times: ReadonlyMap<string, ReadonlyMap<Kind, number>>,
) {
  const callMicros = 1e6 / perSecond;
  const rows = [...times].map(([owner, kinds]) => ({
    ...{ owner, kinds, micros: callMicros * kinds.values().reduce((sum, share) => sum + share, 0) },
  })).sort((one, other) => other.micros - one.micros);
  print(
    `${name}: ${perSecond.toFixed(0)} a second, ${
      callMicros.toFixed(1)
    } µs a call where the thread is never idle`,
  );
  print(`   µs | ${KINDS.map((kind) => kind.padStart(6)).join(" ")} | function`);
  for (const { owner, kinds, micros } of rows.slice(0, SHOWN)) {
    const parts = KINDS.map((kind) => ((kinds.get(kind) ?? 0) * callMicros).toFixed(2).padStart(6));
    print(`${micros.toFixed(2).padStart(5)} | ${parts.join(" ")} | ${owner}`);
  }
}
