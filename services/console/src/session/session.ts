import type { Clock } from "./clock.js";

export type SessionState = "active" | "ended";

/** Sign-in of this browser: renews it, and says when only its user can. */
export interface Session {
  /** `fetch` that renews the session once when a call is refused for it (401). */
  readonly fetch: typeof fetch;
  readonly state: () => SessionState;
  subscribe(listener: () => void): () => void;
  /** Opens the sign-in in a window; the page and what was entered in it stay. */
  signIn(): void;
}

/** Page at which a sign-in ends. */
export const SIGNED_IN_PATH = "/console/signed-in";
/** Windows tell each other on this channel that a sign-in has succeeded. */
export const SESSION_CHANNEL = "flyte-ts.session";
const UNAUTHENTICATED = 401;
const LOGIN = `/login?redirect_url=${SIGNED_IN_PATH}`;

export function createSession(clock: Clock, send: typeof fetch = fetch.bind(globalThis)): Session {
  const listeners = new Set<() => void>();
  let [state, renewal]: [SessionState, Promise<void> | undefined] = ["active", undefined];
  const change = (next: SessionState): void => {
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  };
  /** Renews by the refresh token. Its answer sets the cookie; the redirect in it is not needed. */
  const renew = (): Promise<void> => {
    renewal ??= send(LOGIN, { redirect: "manual" })
      .then(() => undefined)
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  };
  new BroadcastChannel(SESSION_CHANNEL).addEventListener("message", () => change("active"));
  return {
    fetch: async (input, init) => {
      const first = await send(input, init);
      clock.observe(first.headers.get("date"));
      if (first.status !== UNAUTHENTICATED) return first;
      await renew().catch(() => undefined);
      const second = await send(input, init);
      change(second.status === UNAUTHENTICATED ? "ended" : "active");
      return second;
    },
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    signIn: () => void window.open(LOGIN, "flyte-ts-sign-in", "popup,width=520,height=720"),
  };
}
