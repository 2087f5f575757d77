/** Fields that the server owns; the local cluster does not track managed fields. */
const DROPPED = new Set(["managedFields", "selfLink"]);

const MASKS: Readonly<Record<string, string>> = {
  uid: "<UID>",
  resourceVersion: "<VERSION>",
  creationTimestamp: "<TIME>",
  deletionTimestamp: "<TIME>",
  lastTransitionTime: "<TIME>",
  lastHeartbeatTime: "<TIME>",
  lastUpdateTime: "<TIME>",
  continue: "<CONTINUE>",
};

/** Removes the parts of a response that differ between servers or over time. */
export function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item));
  if (typeof value === "string") return maskText(value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !DROPPED.has(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, typeof inner === "string" && inner !== "" && MASKS[key] !== undefined ? MASKS[key] : mask(inner)]),
  );
}

function maskText(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<UID>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<TIME>")
    .replaceAll(/\bgen-[a-z0-9]{5}\b/g, "gen-<RANDOM>")
    .replaceAll(/too old resource version: \d+ \(\d+\)/g, "too old resource version: <N> (<N>)")
    .replaceAll(/^\d+(s|ms|m)$/g, "<AGE>");
}
