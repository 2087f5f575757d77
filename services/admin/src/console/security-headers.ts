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
 * address is opened alone: they reach neither the console, nor the API, nor a cookie. They load
 * nothing from elsewhere unless the configuration names the origin.
 */
export function deckHeaders({ deckOrigins }: Pick<ConsoleConfig, "deckOrigins">): Readonly<Record<string, string>> {
  const policy = [
    "sandbox allow-scripts",
    "default-src 'none'",
    ["script-src 'unsafe-inline' 'unsafe-eval'", ...deckOrigins].join(" "),
    ["style-src 'unsafe-inline'", ...deckOrigins].join(" "),
    ["img-src data: blob:", ...deckOrigins].join(" "),
    ["font-src data:", ...deckOrigins].join(" "),
    "frame-ancestors 'self'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "private, no-store",
  };
}
