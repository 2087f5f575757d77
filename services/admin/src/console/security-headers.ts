import type { ConsoleConfig } from "./config.js";

/**
 * Headers of every answer below `/console`. Scripts and styles come from files of the console only,
 * no other page frames it, and texts cannot become markup without a Trusted Types policy.
 */
export function securityHeaders({ blobOrigins }: Pick<ConsoleConfig, "blobOrigins">): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    ["connect-src 'self'", ...blobOrigins].join(" "),
    "worker-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  };
}

/**
 * Headers of a deck, a page that a task wrote. Its scripts run in an opaque origin, also when its
 * address is opened alone: they reach neither the console, nor the API, nor a cookie.
 */
export const DECK_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval' https:",
    "style-src 'unsafe-inline' https:",
    "img-src data: blob: https:",
    "font-src data: https:",
    "frame-ancestors 'self'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "private, no-store",
};
