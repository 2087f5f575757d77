import { configureGlobal } from "fast-check";
import { afterAll, vi } from "vitest";

// Property tests draw the same cases everywhere. `npm run nightly` draws others.
configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 1) });

// flytectl keeps tokens in a keyring. Without a session bus it would start one that would never
// exit.
process.env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/dev/null";

// The next file may run in the same process.
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
