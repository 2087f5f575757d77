import { isLoopback } from "@flyte-ts/config";
import { createHttpPolicy, type HttpPolicy } from "@flyte-ts/http-policy";
import type { AdminConfig } from "./config.js";

/**
 * Creates the policy by which admin's ports filter requests by host and origin. The public URL is
 * allowed as host and origin. Beyond loopback an admin with authentication serves any host: a page
 * that reaches it by DNS rebinding sends neither token nor cookie.
 */
export function adminHttpPolicy({ server, auth }: Pick<AdminConfig, "server" | "auth">): HttpPolicy {
  const { host, allowedHosts, allowedOrigins } = server;
  const required = auth.mode === "required";
  const pages = [...(auth.publicUrl === undefined ? [] : [auth.publicUrl]), ...(required ? auth.browser.allowedOrigins : [])];
  const unlisted = required && !isLoopback(host) ? ["*"] : undefined;
  const listed = allowedHosts ?? unlisted;
  const own = auth.publicUrl === undefined ? [] : [new URL(auth.publicUrl).hostname];
  return createHttpPolicy({
    listenAddress: host,
    // An empty list, on loopback, still excludes private names.
    allowedHosts: listed === undefined && !isLoopback(host) ? undefined : [...(listed ?? []), ...own],
    allowedOrigins: [...allowedOrigins, ...pages.map((page) => new URL(page).origin)],
  });
}
