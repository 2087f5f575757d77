import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, expect, test, vi } from "vitest";
import { DependencyMonitor } from "./dependency-monitor.js";
import { StreamLimiter } from "./stream-limiter.js";

const logger = createLogger({ service: "test", level: "silent" });
let monitor: DependencyMonitor | undefined;
afterEach(() => monitor?.close());

function monitored() {
  const state = { bus: undefined as string | undefined, database: undefined as Error | undefined, queries: 0 };
  const listeners = new Set<() => void>();
  const streams = new StreamLimiter(10);
  const onRecovered = vi.fn();
  const query = () => {
    state.queries++;
    return state.database === undefined ? Promise.resolve({ rows: [], rowCount: 1 }) : Promise.reject(state.database);
  };
  const bus = {
    unhealthyReason: () => state.bus,
    onConnectionChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  monitor = new DependencyMonitor({ db: { query }, bus, logger }, { streams, onRecovered });
  const changeBus = (reason: string | undefined) => {
    state.bus = reason;
    for (const listener of listeners) listener();
  };
  return { state, streams, onRecovered, changeBus, listeners, check: monitor.check.bind(monitor) };
}

const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });

test.each([
  ["the database", { database: refused }, /the database does not answer/],
  ["the message bus", { bus: "the message bus is not connected" }, /the message bus is not connected/],
] as const)("streams end without %s, and begin again with it", async (_, away, reason) => {
  const { state, streams, onRecovered, check } = monitored();
  const stream = streams.open(new AbortController().signal);
  await check();
  stream.check();
  Object.assign(state, away);
  await check();
  expect(() => stream.check()).toThrow(reason);
  expect(() => streams.open(new AbortController().signal)).toThrow(reason);
  stream.close();
  await check();
  expect(onRecovered).not.toHaveBeenCalled();
  Object.assign(state, { bus: undefined, database: undefined });
  await check();
  expect(onRecovered).toHaveBeenCalledTimes(1);
  streams.open(new AbortController().signal).check();
});

test("a query that fails for another reason ends no stream, and without streams nothing is checked", async () => {
  const { state, streams, check } = monitored();
  await check();
  expect(state.queries).toBe(0);
  const stream = streams.open(new AbortController().signal);
  state.database = new Error("permission denied");
  await check();
  stream.check();
  expect(state.queries).toBe(1);
});

test("a connection to the bus that is lost between two checks ends the streams", async () => {
  const { streams, onRecovered, changeBus, listeners } = monitored();
  const stream = streams.open(new AbortController().signal);
  changeBus("the message bus is not connected");
  expect(() => stream.check()).toThrow(/the message bus is not connected/);
  stream.close();
  changeBus(undefined);
  await expect.poll(() => onRecovered.mock.calls).toHaveLength(1);
  streams.open(new AbortController().signal).check();
  monitor?.close();
  expect(listeners.size).toBe(0);
});

test("a connection that is lost and back during a check of the database ends the streams", async () => {
  const { streams, onRecovered, changeBus, check } = monitored();
  const stream = streams.open(new AbortController().signal);
  const checked = check();
  changeBus("the message bus is not connected");
  changeBus(undefined);
  await checked;
  expect(() => stream.check()).toThrow(/the message bus is not connected/);
  expect(onRecovered).toHaveBeenCalledTimes(1);
});
