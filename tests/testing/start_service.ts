// The service as a real process, exactly as `deno task start` starts it, on a folder and a free port.
import { startArguments } from "../bench/service_target.ts";
import { collect } from "./processes.ts";
import { tenantSettings } from "./tenant_settings.ts";

export interface ServiceOptions {
  /** `DATA_DIR`; the caller makes and removes it. */
  readonly folder: string;
  /** Environment variables of `lib/config.ts`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A command that starts the one behind it. */
  readonly launcher?: readonly string[];
  /** Arguments of the program; none unless given. */
  readonly args?: readonly string[];
  /** The folder of the program; this repository unless given. */
  readonly program?: string;
}

/** A process that is starting, running or has ended. */
export interface ServiceProcess {
  readonly pid: number;
  /** The printed address, as soon as it stands there; rejects when the process ends before. */
  readonly url: Promise<string>;
  readonly exited: Promise<Deno.CommandStatus>;
  /** What it has written to standard output and to standard error. */
  output(): string;
  errors(): string;
  /** Sends a signal (SIGTERM unless given) and waits for the end. */
  stop(signal?: Deno.Signal): Promise<Deno.CommandStatus>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<Deno.CommandStatus>;
}

export interface RunningService extends Omit<ServiceProcess, "url">, AsyncDisposable {
  readonly url: string;
}

/** Starts the process and waits until it listens. Rejects with what it wrote when it ends instead. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const service = await launchService(options);
  const url = await service.url;
  return { ...service, url, [Symbol.asyncDispose]: async () => void await service.kill() };
}

/** Starts the process, whatever comes of it. */
export async function launchService(
  { folder, settings, launcher = [], args: own = [], program = new URL("../../", import.meta.url).pathname }:
    ServiceOptions,
): Promise<ServiceProcess> {
  const [command = "", ...args] = [...launcher, Deno.execPath(), ...await startArguments(), ...own];
  const child = new Deno.Command(command, {
    args,
    cwd: program,
    env: {
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: folder,
      FLOOD_PER_10S: "0",
      ...tenantSettings(),
      ...settings,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const url = Promise.withResolvers<string>();
  url.promise.catch(() => {}); // whoever expects the end does not ask for the address
  const text = { output: "", errors: "" };
  const reading = Promise.all([
    collect(child.stdout, (part) => {
      text.output += part;
      const listening = /^Cubby listens on (http:\S+)\n/m.exec(text.output)?.[1];
      if (listening !== undefined) url.resolve(listening);
    }),
    collect(child.stderr, (part) => text.errors += part),
  ]);
  const exited = child.status.then(async (status) => {
    await reading;
    url.reject(new Error(`the service ended with code ${status.code}:\n${text.errors.slice(-2000)}`));
    return status;
  });
  let ended = false;
  exited.then(() => ended = true);
  const stop = (signal: Deno.Signal = "SIGTERM") => {
    if (!ended) child.kill(signal);
    return exited;
  };
  return {
    ...{ pid: child.pid, url: url.promise, exited, stop, kill: () => stop("SIGKILL") },
    output: () => text.output,
    errors: () => text.errors,
  };
}
