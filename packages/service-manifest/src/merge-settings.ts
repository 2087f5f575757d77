import type { Settings } from "./facts.js";

/** Merges settings; of a key in both, `over` wins, and objects are merged. */
export function mergeSettings(base: Settings, over: Settings): Settings {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? mergeSettings(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
