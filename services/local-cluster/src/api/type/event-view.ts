import type { Json, KubeObject } from "../../object/model.js";

/** Field of core/v1 events → the same field of events.k8s.io/v1. */
const NAMES: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

function renamed(object: KubeObject, { apiVersion, names }: { apiVersion: string; names: ReadonlyMap<string, string> }): KubeObject {
  const entries = Object.entries(object).map(([key, value]): [string, Json | undefined] => [names.get(key) ?? key, value]);
  return { ...Object.fromEntries(entries), apiVersion, kind: "Event", metadata: object.metadata };
}

/** Converts events between the two API groups that serve them; stored in the core form. */
export const eventsV1View = {
  fromStorage: (object: KubeObject) => renamed(object, { apiVersion: "events.k8s.io/v1", names: new Map(NAMES) }),
  toStorage: (object: KubeObject) => renamed(object, { apiVersion: "v1", names: new Map(NAMES.map(([core, events]) => [events, core])) }),
};
