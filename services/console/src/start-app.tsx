import "./theme/tokens.css";
import "./theme/base.css";
import { createRestClient } from "@flyte-ts/client/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createApi } from "./api/api.js";
import { createToastStore } from "./session/toast-store.js";
import { createKeyMap } from "./keys/key-map.js";
import { listenToKeys } from "./app/use-keys.js";
import { createConsoleRouter } from "./router.js";
import { type App, AppContext } from "./app/app.js";
import { createClock } from "./session/clock.js";
import { earlyAnswers } from "./session/start/early-answers.js";
import { createPreferences } from "./session/preferences.js";
import type { Presence } from "./session/presence.js";
import { retryTransient } from "./session/retry.js";
import { createSession, SESSION_CHANNEL } from "./session/session.js";
import { resumeStackTraces } from "./session/start/stack-traces.js";
import { actOnce } from "./session/act-once.js";
import { createStreamState } from "./session/stream-state.js";
import { followTheme } from "./theme/theme.js";

/** Draws the console. `presence` has seen the use of the page since it was opened. */
export function startApp(presence: Presence): void {
  // All modules are loaded.
  resumeStackTraces();
  const clock = createClock();
  const session = createSession({
    clock,
    send: earlyAnswers.fetch,
    leave: (address) => actOnce(sessionStorage, { key: "signed-in", nowMs: clock.now() }, () => location.assign(address)),
  });
  const preferences = createPreferences(globalThis.localStorage);
  const app: App = {
    api: createApi(createRestClient({ fetch: session.fetch })),
    clock,
    keys: createKeyMap(),
    preferences,
    presence,
    session,
    stream: createStreamState(),
    toasts: createToastStore(),
  };
  const queries = new QueryClient({
    defaultOptions: { queries: { staleTime: 10_000, retry: retryTransient, refetchOnWindowFocus: true } },
  });
  const router = createConsoleRouter({ app, queries });

  followTheme(preferences, document.documentElement);
  listenToKeys(app.keys, () => performance.now());
  window.addEventListener("vite:preloadError", (event) => {
    if (actOnce(sessionStorage, { key: "reloaded", nowMs: clock.now() }, () => location.reload())) event.preventDefault();
  });
  new BroadcastChannel(SESSION_CHANNEL).addEventListener("message", () => void queries.invalidateQueries());

  const root = document.getElementById("root");
  if (root === null) throw new Error("the page has no root");
  createRoot(root).render(
    <StrictMode>
      <AppContext value={app}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </AppContext>
    </StrictMode>,
  );
}
