import { z } from "zod";
import { isLoopback } from "./settings.js";

/**
 * Setting beside `server.host` of a service that can run without authentication; see
 * {@link loopbackUnlessAuthenticated}.
 */
export const openToNetwork = z
  .boolean()
  .default(false)
  .describe("Permits unauthenticated callers from other hosts: required with `auth.mode: open` when `host` is not a loopback address.");

interface OpenableListener {
  readonly server: { readonly host: string; readonly openToNetwork: boolean };
  readonly auth: { readonly mode: "open" | "required" };
}

/**
 * Arguments of `refine` for the rule that a service without authentication listens on loopback
 * only, unless its configuration opens it to the network.
 */
export const loopbackUnlessAuthenticated = [
  ({ server, auth }: OpenableListener): boolean => auth.mode === "required" || server.openToNetwork || isLoopback(server.host),
  {
    path: ["server", "host"] as string[],
    message:
      "callers are not authenticated, so only a loopback address is allowed: set auth.mode to required and name the providers of tokens, " +
      "or set server.openToNetwork to true to give full access to every caller that reaches this address",
  },
] as const;
