// The service as Deno Deploy runs it: `main.ts` with the network and its environment and nothing else, no disk, no other
// programs, `Deno.openKv()` for KV. Two instances share one KV and one sqld, as two isolates of one app do.
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { newToken } from "../../lib/access/token_format.ts";
import { pause } from "../../lib/core/pause.ts";
import { givePort, takePort } from "../testing/own_port.ts";
import { answers, collect } from "../testing/processes.ts";
import { startSqld } from "../testing/sqld.ts";

const ROOT = new URL("../../", import.meta.url);
const START_TIMEOUT_MS = 30_000;
/** The platform gives a process so long between SIGINT and SIGKILL. */
const GRACE_MS = 5_000;
/** What deploying gives a process. Anything more is missing there or not to be relied on. */
const PERMISSIONS = ["--no-prompt", "--allow-net", "--allow-env"];

/** One process. */
export interface Instance {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start command until the port answered. */
  readonly readyMs: number;
  output(): string;
  errors(): string;
  /** SIGINT, as the platform sends it. Rejects when the process has not ended in the platform's time. */
  stop(): Promise<Deno.CommandStatus>;
  kill(): Promise<Deno.CommandStatus>;
}

/** What all instances of one app have in common. */
export interface Stage extends AsyncDisposable {
  readonly operatorKey: string;
  /** Null where others look after the tenants. */
  readonly sqldPid: number | null;
  /** One more instance, ready for requests. It ends with the stage at the latest. */
  start(settings?: Readonly<Record<string, string>>): Promise<Instance>;
}

/** With an sqld of its own that takes tokens. Null where there is none for this machine, after a line that says so. */
export async function openStage(): Promise<Stage | null> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_deploy_" });
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  await Deno.writeTextFile(`${folder}/public.pem`, await exportSPKI(pair.publicKey));
  const sqld = await startSqld({
    args: [
      ...["--enable-namespaces", "--disable-default-namespace"],
      ...["--auth-jwt-key-file", `${folder}/public.pem`],
    ],
  }).finally(() => Deno.remove(folder, { recursive: true }));
  if (sqld === null) return null;
  const stage = await stageOn({
    TENANTS_URL: `sqld+${sqld.url}?admin=${sqld.adminUrl}`,
    TENANTS_JWT_KEY: await exportPKCS8(pair.privateKey),
  });
  return {
    ...stage,
    sqldPid: sqld.pid,
    [Symbol.asyncDispose]: async () => {
      await stage[Symbol.asyncDispose]();
      await sqld.stop();
    },
  };
}

/** With tenants that others look after; `settings` say where. */
export async function stageOn(settings: Readonly<Record<string, string>>): Promise<Stage> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_deploy_" });
  const denoDir = await emptyDenoDir(folder);
  const operatorKey = newToken("cub_op_");
  const common = {
    DENO_DIR: denoDir,
    DENO_DEPLOYMENT_ID: "rehearsal",
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
    BASE_URL: "http://127.0.0.1",
    OPERATOR_KEY: operatorKey,
    FLOOD_PER_10S: "0",
    ...settings,
  };
  const instances: Instance[] = [];
  return {
    operatorKey,
    sqldPid: null,
    start: async (own = {}) => {
      const instance = await startPastLock({ ...common, ...own });
      instances.push(instance);
      return instance;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(instances.map((instance) => instance.kill()));
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Code that is in the cache already, and a KV of one's own: Deno keeps that in the same folder. */
export async function emptyDenoDir(folder: string): Promise<string> {
  const info = await new Deno.Command(Deno.execPath(), { args: ["info", "--no-config", "--json"] }).output();
  const { denoDir }: { denoDir: string } = JSON.parse(new TextDecoder().decode(info.stdout));
  const own = `${folder}/deno`;
  await Deno.mkdir(own);
  for (const part of ["npm", "gen", "remote"]) {
    const there = await Deno.stat(`${denoDir}/${part}`).then(() => true, () => false);
    if (there) await Deno.symlink(`${denoDir}/${part}`, `${own}/${part}`);
  }
  return own;
}

/**
 * Processes that make the one KV file at the same moment may find it locked, and end; the platform's KV is there before
 * any isolate is.
 */
async function startPastLock(env: Readonly<Record<string, string>>, attempts = 5): Promise<Instance> {
  try {
    return await startInstance(env);
  } catch (error) {
    if (attempts === 1 || !String(error).includes("database is locked")) throw error;
    return await startPastLock(env, attempts - 1);
  }
}

/** Rejects with what it wrote to standard error when it ends or stays silent. */
export async function startInstance(
  env: Readonly<Record<string, string>>,
  command: readonly string[] = ["run", ...PERMISSIONS, "main.ts"],
): Promise<Instance> {
  const port = await takePort();
  const startedMs = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [...command],
    cwd: ROOT.pathname,
    clearEnv: true,
    // As a platform says where to listen, and as a person does.
    env: { ...env, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`, PORT: String(port) },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const text = { output: "", errors: "", ended: false };
  const reading = Promise.all([
    collect(child.stdout, (part) => text.output += part),
    collect(child.stderr, (part) => text.errors += part),
  ]);
  const exited = child.status.then(async (status) => {
    await reading;
    await givePort(port);
    text.ended = true;
    return status;
  });
  const end = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it had ended by itself
    }
    return exited;
  };
  const url = `http://127.0.0.1:${port}`;
  for (let waitedMs = 0; !await answers(`${url}/readyz`); waitedMs += 10) {
    if (text.ended || waitedMs > START_TIMEOUT_MS) {
      await end("SIGKILL");
      throw new Error(`the instance did not start:\n${text.errors.slice(-3000)}`);
    }
    await pause(10);
  }
  return {
    ...{ url, pid: child.pid, readyMs: performance.now() - startedMs },
    output: () => text.output,
    errors: () => text.errors,
    kill: () => end("SIGKILL"),
    stop: async () => {
      let late: ReturnType<typeof setTimeout> | undefined;
      const overdue = new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(new Error("still there after the platform's time")), GRACE_MS);
      });
      try {
        return await Promise.race([end("SIGINT"), overdue]);
      } finally {
        clearTimeout(late);
      }
    },
  };
}
