import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { fromLiteral } from "../../literal/convert/from-literal.js";
import { startInput } from "../../literal/convert/start-value.js";
import type { FormValue } from "../../literal/form-value.js";
import { type KeptSpec, NO_SETTINGS, type Settings } from "./settings.js";
import type { LaunchTarget } from "./target.js";

/** Values with which a form begins when an execution is launched again. */
export interface LaunchSource {
  readonly inputs: Readonly<Record<string, LiteralJson>>;
  readonly settings: Settings;
  readonly kept: KeptSpec;
}

/** Entered values and settings. An input without a value is missing. */
export interface LaunchState {
  readonly values: Readonly<Record<string, FormValue>>;
  readonly settings: Settings;
  /** Not shown, and so no part of a draft, which an address may hold. */
  readonly kept: KeptSpec;
}

/** Values with which a form begins: those of an execution, else the defaults. */
export function startState(target: LaunchTarget, zone: string, from?: LaunchSource): LaunchState {
  const entries = target.inputs.flatMap(({ name, type, fallback, required }) => {
    const literal = from?.inputs[name] ?? fallback;
    const value = literal === undefined ? (required ? startInput(type, zone) : undefined) : fromLiteral(type, literal, zone);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { values: Object.fromEntries(entries), settings: from?.settings ?? NO_SETTINGS, kept: from?.kept ?? {} };
}

/** Differences from the values with which the form began. */
interface Draft {
  /** Changed values. */
  readonly i?: Readonly<Record<string, FormValue>>;
  /** Names of inputs whose value was taken away. */
  readonly c?: readonly string[];
  readonly s?: Partial<Settings>;
}

/** Writes what differs from the start as JSON; empty for nothing. */
export function encodeDraft(state: LaunchState, start: LaunchState): string {
  const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);
  const changed = Object.entries(state.values).filter(([name, value]) => differs(value, start.values[name]));
  const cleared = Object.keys(start.values).filter((name) => state.values[name] === undefined);
  const settings = Object.entries(state.settings).filter(([name, value]) => differs(value, start.settings[name as keyof Settings]));
  if (changed.length + cleared.length + settings.length === 0) return "";
  const draft: Draft = {
    ...(changed.length > 0 && { i: Object.fromEntries(changed) }),
    ...(cleared.length > 0 && { c: cleared }),
    ...(settings.length > 0 && { s: Object.fromEntries(settings) }),
  };
  return JSON.stringify(draft);
}

/** Applies a draft to the values with which a form begins; a malformed one changes nothing. */
export function applyDraft(start: LaunchState, text: string): LaunchState {
  if (text === "") return start;
  let draft: Draft;
  try {
    draft = JSON.parse(text) as Draft;
  } catch {
    return start;
  }
  if (typeof draft !== "object" || draft === null) return start;
  const cleared = new Set(Array.isArray(draft.c) ? draft.c : []);
  const kept = Object.entries(start.values).filter(([name]) => !cleared.has(name));
  return {
    values: { ...Object.fromEntries(kept), ...(isRecord(draft.i) ? draft.i : {}) },
    settings: readSettings(start.settings, draft.s),
    kept: start.kept,
  };
}

/** Takes the settings of a draft that have the form of a setting. */
function readSettings(start: Settings, draft: Partial<Settings> | undefined): Settings {
  if (!isRecord(draft)) return start;
  const known = Object.entries(draft).filter(
    ([name, value]) => Object.hasOwn(start, name) && Array.isArray(value) === Array.isArray(start[name as keyof Settings]),
  );
  return { ...start, ...(Object.fromEntries(known) as Partial<Settings>) };
}

function isRecord(value: unknown): value is Readonly<Record<string, never>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
