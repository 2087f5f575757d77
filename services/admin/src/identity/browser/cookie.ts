export interface CookieOptions {
  /** Restricts the cookie to TLS. */
  readonly secure: boolean;
  readonly path: string;
  readonly maxAgeSeconds: number;
}

/**
 * Formats a `Set-Cookie` value. Scripts cannot read the cookie, and cross-site requests send it
 * only when a user follows a link.
 */
export function setCookie(name: string, value: string, { secure, path, maxAgeSeconds }: CookieOptions): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

/** Reads the value of one cookie from a `Cookie` header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
