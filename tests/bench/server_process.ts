// Starts a server as a process of its own with a folder of its own, waits until it answers, and ends it cleanly.
import { pause } from "../../lib/core/pause.ts";
import { answers, collect } from "../testing/processes.ts";
import { freePort } from "./free_port.ts";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** What it wrote to standard output up to now. */
  output(): string;
  stop(): Promise<void>;
}

export interface ServerCommand {
  readonly command: string;
  /** `port` and the server's folder are filled in. */
  readonly args: (port: number) => readonly string[];
  readonly env?: (port: number) => Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Answers 2xx once the server is up. */
  readonly healthPath: string;
}

/** Rejects when the server ends or stays silent. What it writes to standard error is shown then. */
export async function serverProcess(what: ServerCommand): Promise<ServerProcess> {
  const port = freePort();
  const child = new Deno.Command(what.command, {
    args: [...what.args(port)],
    env: { ...what.env?.(port) },
    ...(what.cwd === undefined ? {} : { cwd: what.cwd }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = { stdout: "", stderr: "", ended: false };
  const done = Promise.all([
    collect(child.stdout, (text) => output.stdout = (output.stdout + text).slice(-65_536)),
    collect(child.stderr, (text) => output.stderr = (output.stderr + text).slice(-65_536)),
    child.status.then(() => output.ended = true),
  ]);
  const stop = async () => {
    if (!output.ended) child.kill("SIGTERM");
    const timer = setTimeout(() => !output.ended && child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await done;
    clearTimeout(timer);
  };
  const url = `http://127.0.0.1:${port}`;
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (!await answers(url + what.healthPath)) {
    if (output.ended || performance.now() > untilMs) {
      await stop();
      throw new Error(`the server did not start:\n${output.stderr.slice(-2000)}`);
    }
    await pause(10);
  }
  return { url, pid: child.pid, port, output: () => output.stdout, stop };
}
