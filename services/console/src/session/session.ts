import type { Clock } from "./clock.js";

export type SessionState = "active" | "ended";

/** Sign-in of this browser: renews it, and says when only its user can. */
export interface Session {
  /** `fetch` that renews the session once when a call is refused for it (401). */
  readonly fetch: typeof fetch;
  readonly state: () => SessionState;
  subscribe(listener: () => void): () => void;
  /** Renews the session by its refresh token; resolves also when that is not possible. */
  renew(): Promise<void>;
  /** Opens the sign-in in a window; the page and what was entered in it stay. */
  signIn(): void;
}

export interface SessionOptions {
  readonly clock: Clock;
  /** Leaves the page for the sign-in; returns false when that has just failed. */
  readonly leave: (address: string) => boolean;
  readonly send?: typeof fetch;
}

/** Page at which a sign-in ends. */
export const SIGNED_IN_PATH = "/console/signed-in";
/** Windows tell each other on this channel that a sign-in has succeeded. */
export const SESSION_CHANNEL = "flyte-ts.session";
const UNAUTHENTICATED = 401;
const login = (path: string): string => `/login?redirect_url=${encodeURIComponent(path)}`;

export function createSession({ clock, leave, send = fetch.bind(globalThis) }: SessionOptions): Session {
  const listeners = new Set<() => void>();
  let [state, renewal]: [SessionState, Promise<void> | undefined] = ["active", undefined];
  // Before the first answer nothing has been entered that a sign-in could lose.
  let hasSession = false;
  let isLeaving = false;
  const change = (next: SessionState): void => {
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  };
  /** Renews by the refresh token. Its answer sets the cookie; the redirect in it is not needed. */
  const renew = async (): Promise<void> => {
    // A renewal would replace the state of the sign-in to which the page goes.
    if (isLeaving) return;
    renewal ??= send(login(SIGNED_IN_PATH), { redirect: "manual" })
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        renewal = undefined;
      });
    await renewal;
  };
  // A sign-in is told also where no call was refused: a stream may have been.
  new BroadcastChannel(SESSION_CHANNEL).addEventListener("message", () => {
    state = "active";
    for (const listener of listeners) listener();
  });
  return {
    fetch: async (input, init) => {
      const first = await send(input, init);
      clock.observe(first.headers.get("date"));
      if (first.status !== UNAUTHENTICATED) {
        hasSession = true;
        return first;
      }
      await renew();
      const second = await send(input, init);
      const isRefused = second.status === UNAUTHENTICATED;
      if (isRefused && !hasSession) {
        await renewal;
        isLeaving = leave(login(`${location.pathname}${location.search}`));
        if (isLeaving) return second;
      }
      hasSession ||= !isRefused;
      change(isRefused ? "ended" : "active");
      return second;
    },
    renew,
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    signIn: () => void window.open(login(SIGNED_IN_PATH), "flyte-ts-sign-in", "popup,width=520,height=720"),
  };
}
