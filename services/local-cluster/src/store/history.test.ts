import { expect, it } from "vitest";
import { History, type StoreEvent } from "./history.js";
import { Stored } from "./stored-object.js";

const MAX_EVENTS = 16_384;

const configMap = (text: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", namespace: "b" },
  data: { text },
});
const small = new Stored(configMap(""), { revision: 0 });

/** Event with the size of another revision. */
function event(revision: number, from = small): StoreEvent {
  const stored = new Stored(from.object, { revision, grown: { from, by: 0 } });
  return { type: "MODIFIED", resource: "/configmaps", stored, previous: undefined };
}

/** Number of retained events. */
function retained(history: History): number {
  const tooOld = history.since(-1);
  const rest = history.since("tooOld" in tooOld ? tooOld.tooOld : 0);
  return "events" in rest ? rest.events.length : Number.NaN;
}

it("a history keeps its newest events, and never many more than its maximum", () => {
  const history = new History(0);
  const counts = new Set<number>();
  for (let revision = 1; revision <= 3 * MAX_EVENTS; revision++) {
    history.push(event(revision));
    if (revision > 2 * MAX_EVENTS && revision % 100 === 0) counts.add(retained(history));
  }
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(MAX_EVENTS);
  expect(Math.max(...counts)).toBeLessThan(1.125 * MAX_EVENTS);
  expect(history.since(3 * MAX_EVENTS - 1)).toMatchObject({ events: [{ stored: { revision: 3 * MAX_EVENTS } }] });
});

it("a history of large objects keeps fewer events", () => {
  const history = new History(0);
  const large = new Stored(configMap("x".repeat(8 << 20)), { revision: 0 });
  for (let revision = 1; revision <= 200; revision++) history.push(event(revision, large));
  expect(retained(history)).toBeGreaterThan(0);
  expect(retained(history)).toBeLessThanOrEqual(72);
});
