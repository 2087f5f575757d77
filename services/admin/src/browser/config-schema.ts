import { z } from "zod";

/** Sign-in of browsers, for the console. */
export const browserSchema = z.strictObject({
  /** Client at the first of `auth.providers`, with the redirect address `{publicUrl}/callback`. The built-in issuer has one of its own. */
  clientId: z.string().min(1).optional(),
  /** File with the client's secret; absent: it has none. */
  clientSecretFile: z.string().optional(),
  /** What the provider is asked for; a refresh token often needs `offline_access`. */
  scopes: z.array(z.string().min(1)).default(["openid", "profile", "email", "offline_access"]),
  /** Sent as `audience`, where the provider needs it to make tokens for Flyte. */
  audience: z.string().optional(),
  /** Where a browser goes that does not say where it came from. */
  home: z.string().startsWith("/").default("/console"),
  /** Origins besides that of `publicUrl` to which it may be sent back, and from which its cookie counts. */
  allowedOrigins: z.array(z.url()).default([]),
  /** How long a browser stays signed in at most. */
  sessionSeconds: z
    .number()
    .int()
    .positive()
    .default(7 * 24 * 3_600),
});

export type BrowserConfig = z.infer<typeof browserSchema>;
