import { z } from "zod";

/** The issuer that admin brings along. */
export const issuerSchema = z.strictObject({
  /** Services that get a client and a secret of their own at the first start; each has role `engine` everywhere. */
  services: z.array(z.string().min(1)).default(["flytepropeller", "flytescheduler", "flyteplugins", "flytedatacatalog"]),
  /** Folder for those secrets, one file each. Without it none are made: `accounts service NAME` makes one and shows it. */
  secretsFolder: z.string().optional(),
  accessTokenSeconds: z.number().int().positive().default(1_800),
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` tells where sign-ins come from; wrong passwords count by that. */
  trustedProxies: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
  /** Also how long a sign-in is remembered. */
  refreshTokenSeconds: z
    .number()
    .int()
    .positive()
    .default(7 * 24 * 3_600),
});

export type IssuerConfig = z.infer<typeof issuerSchema>;
