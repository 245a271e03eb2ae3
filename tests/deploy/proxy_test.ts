// The lines for nginx under "Behind a proxy" in routes/docs/self-hosting.md pass on what clients send, where nginx is installed.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { blocksOf, docFile } from "../docs/doc_files.ts";
import { givePort, takePort } from "../testing/own_port.ts";
import { print } from "../testing/print.ts";
import { startService } from "../testing/start_service.ts";

/** The lines for nginx: what stands beside `server`, and in it. */
async function nginxLines(): Promise<readonly [beside: string, inside: string]> {
  const block = blocksOf(await docFile("routes/docs/self-hosting.md")).find(({ text }) =>
    text.includes("proxy_pass")
  );
  assert(block !== undefined);
  const at = block.text.indexOf("location ");
  return [block.text.slice(0, at), block.text.slice(at)];
}

async function isInstalled(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["-v"], stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

/** What a socket says first: the protocol that was chosen, or that it was refused. */
async function openSocket(url: string): Promise<string> {
  const socket = new WebSocket(url, ["hrana2"]);
  const opened = await new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
  });
  if (!opened) return "refused";
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
  return socket.protocol;
}

async function untilItAnswers(url: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    const answered = await fetch(url).then(async (answer) => (await answer.text(), answer.ok), () => false);
    if (answered) return;
    await pause(50);
  }
}

Deno.test("requests and sockets pass through nginx by the documented lines", async () => {
  const [beside, inside] = await nginxLines();
  // What sockets need, also where nothing can be tried.
  assertStringIncludes(beside, "map $http_upgrade $connection_upgrade");
  assertStringIncludes(inside, "proxy_set_header Upgrade $http_upgrade;");
  assertStringIncludes(inside, "proxy_set_header Connection $connection_upgrade;");
  if (!await isInstalled("nginx")) return print("nothing was tried: this machine has no nginx");
  const folder = await Deno.makeTempDir({ prefix: "cubby_proxy_" });
  try {
    await using service = await startService({ folder: `${folder}/data`, settings: { DEMO: "0" } });
    const port = await takePort();
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) =>
      `${one}_temp_path ${folder}/${one};`
    );
    const location = inside.replace("http://127.0.0.1:8000", service.url);
    await Deno.writeTextFile(
      `${folder}/nginx.conf`,
      `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
       http { access_log off; ${
        paths.join(" ")
      } ${beside} server { listen 127.0.0.1:${port}; ${location} } }`,
    );
    const nginx = new Deno.Command("nginx", {
      args: ["-e", "stderr", "-c", `${folder}/nginx.conf`],
      stderr: "null",
    }).spawn();
    try {
      await untilItAnswers(`http://127.0.0.1:${port}/healthz`);
      assertEquals(await openSocket(`ws://127.0.0.1:${port}/hrana/acme/main/`), "hrana2");
    } finally {
      nginx.kill("SIGTERM");
      await nginx.status;
      await givePort(port);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
