import { z } from "zod";
import type { PlatformConfig } from "../platform/index.js";
import { authSchema } from "./config/auth.js";

const settings = z.strictObject({ auth: authSchema.prefault({}) });

export const identitySettings = settings.shape;
export type IdentityConfig = PlatformConfig &
  z.infer<typeof settings> & {
    /** Setting of the composition root: with it, admin reaches its own ports over TLS. */
    readonly server: { readonly tls?: unknown };
    /** Setting of the registry: domains of every project. */
    readonly domains: readonly { readonly id: string }[];
  };
