import { setTimeout as sleep } from "node:timers/promises";
import { IgnoreOutputs, RecoverableError, t, task, workflow } from "@flyte-ts/sdk";

// One task for each way in which a task can end. The test names the lines of the throws.
export const throws = task({ outputs: t.int }, () => {
  throw new TypeError("no such column", { cause: new RangeError("column 9 of 3") });
});

export const recovers = task({ outputs: t.int, retries: 2 }, (_inputs, { attempt }) => {
  if (attempt < 2) throw new RecoverableError(`attempt ${attempt} finds no server`);
  return attempt;
});

export const neverRecovers = task({ retries: 1 }, () => {
  throw new Error("the source is away", { cause: new RecoverableError("status 503") });
});

export const neverSettles = task({ outputs: t.int }, () => new Promise<number>(() => undefined));

export const rejectsAside = task({ outputs: t.int }, async () => {
  void Promise.reject(new ReferenceError("a rejection without a handler"));
  await sleep(60_000);
  return 1;
});

export const returnsHalf = task({ outputs: { whole: t.int } }, () => ({ whole: 1.5 }));

export const ignores = task({}, () => {
  throw new IgnoreOutputs();
});

export const exits = task({}, () => {
  process.exit(7);
});

export const outlivesItsTime = task({ timeout: "3s" }, async (_inputs, { signal, log }) => {
  signal.addEventListener("abort", () => log.info("received SIGTERM"));
  log.info("waits");
  await sleep(600_000);
});

/** The deadline of a task is that of its node: an execution of the task alone has none. */
export const late = workflow({}, () => {
  outlivesItsTime();
});

export const eatsMemory = task({ outputs: t.int, resources: { memory: "150Mi" } }, async () => {
  const eaten: Buffer[] = [];
  for (;;) {
    eaten.push(Buffer.alloc(16 << 20, eaten.length));
    await sleep(5);
  }
});
