import { headerKeySchema, providerSchema, roleSchema } from "@flyte-ts/auth";
import { z } from "zod";
import { browserSchema } from "../browser/config-schema.js";
import { issuerSchema } from "../issuer/config-schema.js";

const name = z.string().min(1);

/** Whether an address is a scheme, a host and nothing else. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}/`;
}

/** Sign-in and roles. */
export const authSchema = z.strictObject({
  /** `open`: nobody is asked who they are. `required`: every call needs a token, and a role that includes it. */
  mode: z.enum(["open", "required"]).default("open"),
  /** Where clients reach admin's HTTP port, as `https://flyte.example.com`; a slash at the end says nothing. */
  publicUrl: z
    .url()
    .overwrite((text) => (isOrigin(text) && text.endsWith("/") ? text.slice(0, -1) : text))
    .optional(),
  /** Metadata key and HTTP header that may carry the token beside `authorization`. */
  headerKey: headerKeySchema,
  /** Identity providers elsewhere whose tokens are accepted. Clients are sent to the first, unless there is a built-in one. */
  providers: z.array(providerSchema).default([]),
  /** Admin issues tokens itself, below `publicUrl`, to users and clients of its own. Clients are sent to it before all others. */
  builtIn: issuerSchema.optional(),
  browser: browserSchema.prefault({}),
  /** What command-line clients are told. */
  publicClient: z
    .strictObject({
      clientId: name.default("flytectl"),
      redirectUri: z.url().default("http://localhost:53593/callback"),
      scopes: z.array(name).default(["all", "offline"]),
      audience: z.string().default(""),
    })
    .prefault({}),
  /** Those of the table `role_bindings` come beside them. */
  roles: z.array(roleSchema).default([]),
  /** How soon a role that was given or taken away is known in every replica, seconds. */
  rolesRefreshSeconds: z.number().positive().default(10),
});

export type AuthConfig = z.infer<typeof authSchema>;
