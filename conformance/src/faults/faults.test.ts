import { afterAll, beforeAll } from "vitest";
import { faultRounds } from "./fault-rounds.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";

let stack: RunningStack;
beforeAll(async () => {
  stack = await startStack();
}, 300_000);
afterAll(() => stack.stop(), 60_000);

faultRounds({
  parts: ["admin", "propeller", "plugin-pod", "nats", "postgres", "local-cluster", "nats and its streams"],
  rounds: 7,
  stack: () => stack,
});
