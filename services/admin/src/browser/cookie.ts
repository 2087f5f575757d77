export interface CookieOptions {
  /** Sent over TLS only. */
  readonly secure: boolean;
  readonly path: string;
  readonly maxAgeSeconds: number;
}

/** A `Set-Cookie` line. No script sees the cookie, and other sites' requests bring it only when a person follows a link. */
export function setCookie(name: string, value: string, { secure, path, maxAgeSeconds }: CookieOptions): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

/** The value of one cookie of a `Cookie` header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
