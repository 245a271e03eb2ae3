// A real SMTP server on the loopback: it keeps what it is sent, and refuses what a test tells it to.
import { SMTPServer } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The lines above the body, as they came. */
  readonly head: string;
  /** The body, decoded. */
  readonly text: string;
}

export interface TestSmtpServer extends AsyncDisposable {
  /** For `SMTP_URL`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** The code with which recipients are refused from now on; null: all are taken. */
  refusal: number | null;
  /** Senders that were let in or refused. */
  attempts: number;
}

export async function startSmtpServer(): Promise<TestSmtpServer> {
  const mails: ReceivedMail[] = [];
  const own = { refusal: null as number | null, attempts: 0 };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    logger: false,
    onRcptTo(_address, _session, done) {
      own.attempts++;
      if (own.refusal === null) return done();
      done(
        Object.assign(new Error("refused, with words that nobody is to repeat"), {
          responseCode: own.refusal,
        }),
      );
    },
    onData(stream, { envelope }, done) {
      const parts: Uint8Array[] = [];
      stream.on("data", (part: Uint8Array) => void parts.push(part));
      stream.on("end", () => {
        const raw = new TextDecoder().decode(joined(parts));
        const [head = "", ...body] = raw.split("\r\n\r\n");
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          head,
          text: decode(head, body.join("\r\n\r\n")),
        });
        done();
      });
    },
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", () => listening()));
  const address = server.server.address();
  const port = typeof address === "object" ? address?.port : null;
  return Object.assign(own, {
    url: `smtp://127.0.0.1:${port}?tls=off`,
    mails,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => server.close(() => closed())),
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function decode(head: string, body: string): string {
  if (!/^Content-Transfer-Encoding: quoted-printable$/im.test(head)) return body;
  const bytes = body.replace(/=\r\n/g, "").replace(
    /=([0-9A-F]{2})/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
  return new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
}
