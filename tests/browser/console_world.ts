// The console for a browser: the app in this process behind a port of its own, with people whose sessions a browser gets.
import type { BrowserContextOptions } from "playwright-core";
import { sessionCookieName } from "../../routes/http/session_cookie.ts";
import type { TestPerson } from "../testing/person.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";

export interface ConsoleWorld {
  readonly app: StartedApp;
  /** `http://localhost:<port>`. */
  readonly url: string;
  /** Options of a page that somebody sees who is signed in. */
  signedIn(person: TestPerson): BrowserContextOptions;
  stop(): Promise<void>;
}

export async function openConsole(options: StartAppOptions = {}): Promise<ConsoleWorld> {
  // The port comes first: the address is part of what passkeys are bound to.
  const ready = Promise.withResolvers<StartedApp>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request, { remoteAddr }) => (await ready.promise).app.fetch(request, { remoteAddr }),
  );
  const url = `http://localhost:${server.addr.port}`;
  const app = await startApp({ ...options, settings: { BASE_URL: url, ...options.settings } });
  ready.resolve(app);
  return {
    ...{ app, url },
    signedIn: ({ secret }) => ({
      storageState: {
        cookies: [{
          name: sessionCookieName(app.deps.baseUrl),
          value: secret,
          domain: "localhost",
          path: "/",
          expires: -1,
          httpOnly: true,
          secure: false,
          sameSite: "Lax",
        }],
        origins: [],
      },
    }),
    stop: async () => {
      await server.shutdown();
      await app.stop();
    },
  };
}
