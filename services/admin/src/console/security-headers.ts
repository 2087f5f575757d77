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
