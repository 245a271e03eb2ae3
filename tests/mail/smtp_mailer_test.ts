// What a mail server is told and what it is not, word by word: no mail and no password on a line that anybody can read.
import { assert, assertEquals } from "@std/assert";
import { SmtpMailer, type SmtpOptions } from "../../lib/services/mail/smtp_mailer.ts";

const MAIL = { to: "ada@example.com", subject: "Hello", text: "A link that nobody else is to see" };

/** What a server says to a line, whose first word it goes by; a line of `DATA` has none. */
type Says = (line: string) => string;

/** Lets the work talk to a server that says what it is told; answers the lines that it was sent. */
async function withServer(says: Says, work: (port: number) => Promise<void>): Promise<string[]> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heard: string[] = [];
  const served = (async () => {
    for await (const connection of listener) await serve(connection, says, heard);
  })();
  await work(listener.addr.port);
  listener.close();
  await served;
  return heard;
}

async function serve(connection: Deno.TcpConn, says: Says, heard: string[]): Promise<void> {
  const send = (text: string) => connection.write(new TextEncoder().encode(`${text}\r\n`));
  let rest = "";
  let isBody = false;
  try {
    await send("220 here");
    for await (const bytes of connection.readable) {
      const lines = (rest + new TextDecoder().decode(bytes)).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        heard.push(line);
        if (isBody && line !== ".") continue;
        isBody = /^DATA$/i.test(line);
        await send(says(line));
      }
    }
  } catch {
    // The client has gone.
  }
}

/** A server that takes everything; `offers`: what it says that it can. */
function taking(...offers: readonly string[]): Says {
  return (line) => {
    const [word] = line.toUpperCase().split(" ");
    if (word === "EHLO") return ["250-here", ...offers.map((one) => `250-${one}`), "250 OK"].join("\r\n");
    if (word === "DATA") return "354 go on";
    return word === "STARTTLS" ? "502 not here" : "250 OK";
  };
}

function mailer(port: number, server: Partial<SmtpOptions["server"]> = {}): SmtpMailer {
  return new SmtpMailer({
    server: {
      ...{ host: "127.0.0.1", port, isSecure: false, needsTls: false, user: null, password: null },
      ...server,
    },
    from: "shop@example.com",
    helo: "localhost",
  });
}

Deno.test("where STARTTLS is wanted, a server that has none is told neither the mail nor a password", async () => {
  const user = { user: "ada", password: "s3cret" };
  for (const offers of [[], ["AUTH PLAIN LOGIN"]]) {
    const heard = await withServer(taking(...offers), async (port) => {
      const outcome = await mailer(port, { needsTls: true, ...user }).send(MAIL);
      assertEquals([outcome.ok, !outcome.ok && outcome.isFinal], [false, false]);
    });
    assertEquals(heard.filter((line) => !/^(?:EHLO localhost|STARTTLS|QUIT)$/.test(line)), []);
    assert(heard.length > 0);
  }
});

Deno.test("without it a mail goes to a server that has none", async () => {
  const heard = await withServer(taking(), async (port) => {
    assertEquals(await mailer(port).send(MAIL), { ok: true });
  });
  assert(heard.includes("RCPT TO:<ada@example.com>") && heard.includes(MAIL.text), heard.join("\n"));
});

Deno.test("a refused password is the operator's to mend, and a mail that is never taken is nobody's", async () => {
  const refusing = (word: string, answer: string): Says => (line) =>
    word.split(" ").some((one) => line.toUpperCase().startsWith(one)) ? answer : taking("AUTH PLAIN")(line);
  const cases = [
    ["AUTH", "535 wrong, dear ada", { isFinal: false, reason: "EAUTH 535" }],
    ["EHLO HELO", "550 nobody is served here", { isFinal: false, reason: "EPROTOCOL 550" }],
    ["MAIL", "550 not from there", { isFinal: true, reason: "EENVELOPE 550" }],
    [".", "554 not such words", { isFinal: true, reason: "EMESSAGE 554" }],
    ["RCPT", "499 later", { isFinal: false, reason: "EENVELOPE 499" }],
  ] as const;
  for (const [word, answer, failure] of cases) {
    await withServer(refusing(word, answer), async (port) => {
      const own = mailer(port, { user: "ada", password: "s3cret" });
      assertEquals(await own.send(MAIL), { ok: false, ...failure });
    });
  }
});

Deno.test("an address has 64 characters before its @ at most and 255 behind it, and what has more is asked of no server", async () => {
  const heard = await withServer(taking(), async (port) => {
    const send = (local: number, host: number) =>
      mailer(port).send({ ...MAIL, to: `${"a".repeat(local)}@${"b".repeat(host)}` });
    assertEquals(await send(64, 255), { ok: true });
    for (const [local, host] of [[65, 9], [9, 256], [0, 9], [9, 0]] as const) {
      assertEquals(await send(local, host), { ok: false, isFinal: true, reason: "address" });
    }
  });
  assertEquals(heard.filter((line) => line.startsWith("RCPT")).length, 1);
});
