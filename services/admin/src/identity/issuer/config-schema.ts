import { z } from "zod";

/** The built-in issuer. */
export const issuerSchema = z.strictObject({
  /**
   * Services for which the first start creates a client and a secret; each has role `engine`
   * everywhere.
   */
  services: z.array(z.string().min(1)).default(["flytepropeller", "flytescheduler", "flyteplugins", "flytedatacatalog"]),
  /**
   * Folder for those secrets, one file each. Default: none are created; `accounts service NAME`
   * creates one and shows it.
   */
  secretsFolder: z.string().optional(),
  /** Lifetime of access and ID tokens, seconds. */
  accessTokenSeconds: z.number().int().positive().default(1_800),
  /**
   * Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is trusted; wrong
   * passwords are counted by the resulting source.
   */
  trustedProxies: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
  /** Lifetime of refresh tokens and of a login, seconds. */
  refreshTokenSeconds: z
    .number()
    .int()
    .positive()
    .default(7 * 24 * 3_600),
});

export type IssuerConfig = z.infer<typeof issuerSchema>;
