// Loaded before the service: crons stand still, as they do where the machine's clock has been put back, and minutes are short.
const SHORT_MINUTE_MS = 100;

Object.defineProperty(Deno, "cron", { value: () => Promise.resolve() });

const { setInterval } = globalThis;
Object.defineProperty(globalThis, "setInterval", {
  value: (work: () => void, ms: number) => setInterval(work, ms === 60_000 ? SHORT_MINUTE_MS : ms),
});
