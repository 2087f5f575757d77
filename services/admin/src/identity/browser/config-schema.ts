import { z } from "zod";

/** Browser login, for the console. */
export const browserSchema = z.strictObject({
  /**
   * Client at the first of `auth.providers`, with the redirect URI `{publicUrl}/callback`. The
   * built-in issuer has its own client.
   */
  clientId: z.string().min(1).optional(),
  /** File with the client secret; default: no secret. */
  clientSecretFile: z.string().optional(),
  /** Requested scopes; a refresh token often needs `offline_access`. */
  scopes: z.array(z.string().min(1)).default(["openid", "profile", "email", "offline_access"]),
  /** Value of `audience`, where the provider needs it to issue tokens for Flyte. */
  audience: z.string().optional(),
  /** Redirect target when the browser requests none. */
  home: z.string().startsWith("/").default("/console"),
  /**
   * Origins besides that of `publicUrl` to which redirects are allowed, and from which the cookie
   * is accepted.
   */
  allowedOrigins: z.array(z.url()).default([]),
  /** Maximum duration of a browser session, seconds. */
  sessionSeconds: z
    .number()
    .int()
    .positive()
    .default(7 * 24 * 3_600),
});

export type BrowserConfig = z.infer<typeof browserSchema>;
