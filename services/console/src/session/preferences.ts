import type { Scope } from "../api/scope.js";
import type { ZoneChoice } from "../format/time.js";
import { createStore } from "./store.js";

export type ThemeChoice = "system" | "light" | "dark";

/** Choices of this browser's user. */
export interface Preferences {
  readonly theme: ThemeChoice;
  readonly zone: ZoneChoice;
  /** Project and domain that were open last. */
  readonly scope: Scope | undefined;
}

export interface PreferenceStore {
  get(): Preferences;
  set(change: Partial<Preferences>): void;
  subscribe(listener: () => void): () => void;
}

const KEY = "flyte-ts.preferences";
const DEFAULTS: Preferences = { theme: "system", zone: "local", scope: undefined };

/** Keeps choices in the browser's storage, if it has one. */
export function createPreferences(storage: Pick<Storage, "getItem" | "setItem"> | undefined): PreferenceStore {
  const { get, set, subscribe } = createStore(readPreferences(storage?.getItem(KEY) ?? null));
  return {
    get,
    set(change) {
      const changed = { ...get(), ...change };
      storage?.setItem(KEY, JSON.stringify(changed));
      set(changed);
    },
    subscribe,
  };
}

/** Reads stored choices; what is malformed has its default. */
export function readPreferences(text: string | null): Preferences {
  const stored = parse(text);
  const { theme, zone, scope } = stored as Partial<Record<keyof Preferences, unknown>>;
  const isScope = typeof scope === "object" && scope !== null && "project" in scope && "domain" in scope;
  return {
    theme: theme === "light" || theme === "dark" ? theme : DEFAULTS.theme,
    zone: typeof zone === "string" ? zone : DEFAULTS.zone,
    scope: isScope ? { project: String(scope.project), domain: String(scope.domain) } : undefined,
  };
}

function parse(text: string | null): object {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
