// Documents of strangers are read from public addresses only, in bounds, and only where they are.
import { assert, assertEquals } from "@std/assert";
import { fetchPublicJson } from "../../lib/guard/fetch_public_json.ts";
import { isPublicAddress, type PublicNetwork } from "../../lib/guard/public_network.ts";
import { answerAfter, SWITCHING } from "../testing/interim_answers.ts";

const BOUNDS = { maxBytes: 1000, timeoutMs: 5_000 };
const HOST = "client.example";

/** A key pair for `client.example`, made for this test and good for nothing else. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUigAwIBAgIUO8w4oF7D8YAKWbLT3nsvOavWgHYwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY2xpZW50LmV4YW1wbGUwHhcNMjYxMTIyMTQ1NTI0WhcNMzUw
MjA4MTQ1NTI0WjAZMRcwFQYDVQQDDA5jbGllbnQuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABO1bCsr4WgNhEsMb7ED1KaejhTq0LFjP2VzU6JQ79Q0X
FRU8xv2+ijASgtdH583OZOXNmJuq+hir8jePaPiMAsmjbjBsMB0GA1UdDgQWBBRH
l2IKIs1Rvm2f5dTV51v8s3ER+zAfBgNVHSMEGDAWgBRHl2IKIs1Rvm2f5dTV51v8
s3ER+zAPBgNVHRMBAf8EBTADAQH/MBkGA1UdEQQSMBCCDmNsaWVudC5leGFtcGxl
MAoGCCqGSM49BAMCA0cAMEQCIHllLl4s5QsUL4iIioshO+QcKy0XH0rv48cY9bkQ
GD7YAiBAoF7HFDbS7/JkeZUrW9AUCrsyrIdm6kWYubqMwxI9zg==
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglAK8VbMUu1Gg4xoc
lWiq06GuSqHTXxlLVRX3wG2yAWWhRANCAATtWwrK+FoDYRLDG+xA9Smno4U6tCxY
z9lc1OiUO/UNFxUVPMb9voowEoLXR+fNzmTlzZibqvoYq/I3j2j4jALJ
-----END PRIVATE KEY-----
`;

/** A server on this machine that the tests call public, under the name of the certificate. */
async function withServer(
  answer: (request: Request) => Response | Promise<Response>,
  work: (read: (path: string, more?: Partial<Read>) => Promise<unknown>, hits: () => number) => Promise<void>,
): Promise<void> {
  let hits = 0;
  const serving = { port: 0, hostname: "127.0.0.1", cert: CERTIFICATE, key: KEY, onListen: () => {} };
  await using server = Deno.serve(serving, (request) => {
    hits++;
    return answer(request);
  });
  const network: PublicNetwork = {
    lookup: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    isPublic: (address) => address === "127.0.0.1",
    ca: CERTIFICATE,
  };
  const read = (path: string, { host = HOST, bounds = BOUNDS, ...more }: Partial<Read> = {}) =>
    fetchPublicJson(new URL(`https://${host}:${server.addr.port}${path}`), bounds, { ...network, ...more });
  await work(read, () => hits);
}

interface Read extends PublicNetwork {
  readonly host: string;
  readonly bounds: typeof BOUNDS;
}

Deno.test("a document is read from the very address that was looked at", async () => {
  await withServer((request) => Response.json({ host: request.headers.get("host") }), async (read, hits) => {
    const looked: string[] = [];
    const document = await read("/client.json", {
      lookup: (host) => {
        looked.push(host);
        return Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
      },
    });
    assert(typeof document === "object" && document !== null && "host" in document);
    assert(String(document.host).startsWith(HOST));
    // Once: a second look-up could find another address than the one that was looked at.
    assertEquals([looked, hits()], [[HOST], 1]);
  });
});

Deno.test("nothing is sent to an address that is not public", async () => {
  await withServer(() => Response.json({}), async (read, hits) => {
    const refused: Partial<Read>[] = [
      { isPublic: isPublicAddress },
      { lookup: () => Promise.resolve([]) },
      // One public address among others: which of them is used is not ours to say.
      {
        lookup: () =>
          Promise.resolve([{ address: "127.0.0.1", family: 4 }, { address: "10.0.0.1", family: 4 }]),
      },
      { lookup: () => Promise.reject(new Error("no such name")) },
      { host: "127.0.0.1", isPublic: () => true },
      { host: "[::1]", isPublic: () => true },
      { host: "2130706433", isPublic: () => true },
    ];
    for (const more of refused) assertEquals(await read("/", more), null);
    assertEquals(hits(), 0);
  });
});

Deno.test("names and numbers of this machine and of private networks are no public addresses", async () => {
  const inside = [
    ...["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"],
    ...["100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::"],
    ...["fe80::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1"],
    ...[
      "2002:7f00:1::",
      "2001:db8::1",
      "2001::1",
      "168.63.129.16",
      "::ffff:168.63.129.16",
      "::10.0.0.1",
      "::7f00:1",
      "100:0:0:1::1",
      "4000::1",
      "not an address",
      "",
    ],
  ];
  assertEquals(inside.filter(isPublicAddress), []);
  const outside = ["93.184.216.34", "1.1.1.1", "2606:2800:220:1::1", "::ffff:1.1.1.1"];
  assertEquals(outside.filter(isPublicAddress), outside);
  // The system's own look-up finds this machine, which is not public.
  assertEquals(await fetchPublicJson(new URL("https://localhost/x"), BOUNDS), null);
});

Deno.test("a redirect, another status or type, a text that is no JSON or too long are no document", async () => {
  const answers: Readonly<Record<string, () => Response>> = {
    "/moved": () => new Response(null, { status: 302, headers: { location: "/client.json" } }),
    "/error": () => Response.json({}, { status: 500 }),
    "/html": () => new Response("{}", { headers: { "content-type": "text/html" } }),
    "/broken": () => new Response("{", { headers: { "content-type": "application/json" } }),
    "/bytes": () =>
      new Response(new Uint8Array([34, 255, 34]), { headers: { "content-type": "application/json" } }),
    "/long": () => Response.json("x".repeat(BOUNDS.maxBytes)),
    "/endless": () =>
      new Response(ReadableStream.from(endless()), { headers: { "content-type": "application/json" } }),
    "/client.json": () => Response.json({ fine: true }),
    "/other-json": () =>
      new Response("{}", { headers: { "content-type": "application/cimd+json; charset=utf-8" } }),
  };
  await withServer(
    (request) => answers[new URL(request.url).pathname]?.() ?? Response.error(),
    async (read) => {
      for (const path of ["/moved", "/error", "/html", "/broken", "/bytes", "/long", "/endless"]) {
        assertEquals(await read(path), null, path);
      }
      assertEquals(await read("/client.json"), { fine: true });
      assertEquals(await read("/other-json"), {});
    },
  );
});

Deno.test("a certificate of somebody else, and an answer that does not come, are no document", async () => {
  const ended = Promise.withResolvers<Response>();
  await withServer((request) => {
    if (new URL(request.url).pathname !== "/silent") return Response.json({});
    return ended.promise;
  }, async (read) => {
    assertEquals(await read("/", { host: "other.example" }), null);
    assertEquals(await read("/silent", { bounds: { ...BOUNDS, timeoutMs: 100 } }), null);
    ended.resolve(Response.json({}));
  });
});

Deno.test("a server that sends interim answers one after the other, or 101, gives no document, and one that sends few does", async () => {
  using listener = Deno.listenTls({ port: 0, hostname: "127.0.0.1", cert: CERTIFICATE, key: KEY });
  const network: PublicNetwork = {
    lookup: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    isPublic: () => true,
    ca: CERTIFICATE,
  };
  const document = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  const read: unknown[] = [];
  for (const interim of [10, 100]) {
    const reading = fetchPublicJson(new URL(`https://${HOST}:${listener.addr.port}/`), BOUNDS, network);
    await answerAfter(await listener.accept(), interim, document);
    read.push(await reading);
  }
  const switching = fetchPublicJson(new URL(`https://${HOST}:${listener.addr.port}/`), BOUNDS, network);
  await answerAfter(await listener.accept(), 0, SWITCHING);
  read.push(await switching);
  assertEquals(read, [{}, null, null]);
});

function* endless(): Generator<Uint8Array> {
  for (;;) yield new Uint8Array(100).fill(32);
}
