// Tests of many cases that share one app: each has a namespace of its own, and no engine has to be started for it.
import { hostedApp } from "../deploy/hosted_app.ts";
import { lendStore, startApp, type StartedApp } from "./start_app.ts";
import { unlooked } from "./unlooked.ts";

export interface Cases<Case> {
  readonly cases: readonly Case[];
  nameOf(one: Case): string;
  /** Runs one; `slug` is a namespace that nobody has yet. */
  run(app: StartedApp, slug: string, one: Case): Promise<void>;
}

/** What takes a test: `Deno.test`, or the `test` of a file whose tests share a store. */
type Test = (name: string, run: (t: Deno.TestContext) => Promise<void> | void) => void;

/** One test with a step for each case. */
export function testCases<Case>(
  name: string,
  { cases, nameOf, run }: Cases<Case>,
  test: Test = Deno.test,
): void {
  test(name, async (t) => {
    await using app = await startApp();
    for (const [at, one] of cases.entries()) {
      await t.step({ ...unlooked, name: nameOf(one), fn: () => run(app, `acme-${at}`, one) });
    }
  });
}

/** Name → what is done in a world of its own. */
export type Steps<World> = Readonly<Record<string, (world: World) => Promise<void>>>;

/** The same for tests that differ in more than a value: `worldOf` makes what each of them gets in its namespace. */
export function testSteps<World>(
  name: string,
  worldOf: (app: StartedApp, slug: string) => Promise<World>,
  steps: Steps<World>,
  test: Test = Deno.test,
): void {
  const run = async (app: StartedApp, slug: string, [, step]: [string, Steps<World>[string]]) =>
    await step(await worldOf(app, slug));
  testCases(name, { cases: Object.entries(steps), nameOf: ([step]) => step, run }, test);
}

export interface OneStore {
  /**
   * A test of the file. An app that it starts has a KV of its own on the store of them all, unless its options are about
   * the store.
   */
  readonly test: Test;
  /** A test of what a process knows at once because it made the change itself. Left out where several processes serve in turn. */
  readonly testOneProcess: Test;
  /** What the file gives to `Deno.test`: the tests, one after the other, each as a step. */
  run(t: Deno.TestContext): Promise<void>;
}

/** For a file whose tests start an app each, and do nothing to its engines. */
export function oneStore(): OneStore {
  const tests: { readonly name: string; readonly fn: Parameters<Test>[1]; readonly ignore: boolean }[] = [];
  return {
    test: (name, fn) => void tests.push({ name, fn, ignore: false }),
    testOneProcess: (name, fn) => void tests.push({ name, fn, ignore: hostedApp() !== null }),
    run: async (t) => {
      await using _ = await lendStore();
      for (const one of tests) await t.step({ ...unlooked, ...one });
    },
  };
}
