import { isLoopback } from "@flyte-ts/config";
import { createHttpPolicy, type HttpPolicy } from "@flyte-ts/http-policy";
import type { AdminConfig } from "./config.js";

/**
 * Makes the rules by which admin's ports choose the requests that they serve. The public address is served and may call. Beyond
 * loopback an admin that asks for tokens serves any host: a page that reaches it by a rebound name brings neither token nor cookie.
 */
export function adminHttpPolicy({ server, auth }: Pick<AdminConfig, "server" | "auth">): HttpPolicy {
  const { host, allowedHosts, allowedOrigins } = server;
  const required = auth.mode === "required";
  const pages = [...(auth.publicUrl === undefined ? [] : [auth.publicUrl]), ...(required ? auth.browser.allowedOrigins : [])];
  const unlisted = required && !isLoopback(host) ? ["*"] : undefined;
  const listed = allowedHosts ?? unlisted;
  const own = auth.publicUrl === undefined ? [] : [new URL(auth.publicUrl).hostname];
  return createHttpPolicy({
    listensOn: host,
    // A list of no names, on loopback, still leaves private names out.
    allowedHosts: listed === undefined && !isLoopback(host) ? undefined : [...(listed ?? []), ...own],
    allowedOrigins: [...allowedOrigins, ...pages.map((page) => new URL(page).origin)],
  });
}
