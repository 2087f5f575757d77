import { createContext, useContext, useSyncExternalStore } from "react";
import { useStore } from "./use-store.js";
import type { Api } from "../api/api.js";
import type { ToastStore } from "../session/toast-store.js";
import type { KeyMap } from "../keys/key-map.js";
import type { Clock } from "../session/clock.js";
import type { Presence } from "../session/presence.js";
import type { Preferences, PreferenceStore } from "../session/preferences.js";
import type { Session, SessionState } from "../session/session.js";
import type { StreamState } from "../session/stream-state.js";

/** Parts that main.tsx constructs once. */
export interface App {
  readonly api: Api;
  readonly clock: Clock;
  readonly keys: KeyMap;
  readonly preferences: PreferenceStore;
  readonly presence: Presence;
  readonly session: Session;
  readonly stream: StreamState;
  readonly toasts: ToastStore;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("the component is outside of the app");
  return app;
}

export function usePreferences(): Preferences {
  return useStore(useApp().preferences);
}

export function useSessionState(): SessionState {
  const { session } = useApp();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The server's time in whole steps, ms of the epoch; the component is drawn anew at each step. */
export function useNow(stepMs = 1_000): number {
  const { clock } = useApp();
  return useSyncExternalStore(clock.subscribe, () => Math.floor(clock.now() / stepMs) * stepMs);
}
