import { headerKeySchema, providerSchema, roleSchema } from "@flyte-ts/auth";
import { z } from "zod";
import { browserSchema } from "../browser/config-schema.js";
import { issuerSchema } from "../issuer/config-schema.js";

const name = z.string().min(1);

/** True when a URL consists of a scheme and a host only. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}/`;
}

/** Authentication and roles. */
export const authSchema = z.strictObject({
  /**
   * `open`: callers are not authenticated. `required`: every call needs a token, and a role that
   * permits it.
   */
  mode: z.enum(["open", "required"]).default("open"),
  /**
   * External URL of admin's HTTP port, such as `https://flyte.example.com`; a trailing slash is
   * removed.
   */
  publicUrl: z
    .url()
    .overwrite((text) => (isOrigin(text) && text.endsWith("/") ? text.slice(0, -1) : text))
    .optional(),
  /** Metadata key and HTTP header that may carry the token besides `authorization`. */
  headerKey: headerKeySchema,
  /**
   * External identity providers whose tokens are accepted. Clients are sent to the first, unless
   * there is a built-in issuer.
   */
  providers: z.array(providerSchema).default([]),
  /**
   * Makes admin issue tokens itself, below `publicUrl`, to its own users and clients. Clients are
   * sent to it before all others.
   */
  builtIn: issuerSchema.optional(),
  /** Browser login, for the console. */
  browser: browserSchema.prefault({}),
  /** Settings that command-line clients get from the API. */
  publicClient: z
    .strictObject({
      /** Client id with which command-line clients log in; the built-in issuer knows it. */
      clientId: name.default("flytectl"),
      /** Address on the user's machine that the issuer redirects the browser to after a login. */
      redirectUri: z.url().default("http://localhost:53593/callback"),
      /** Scopes that command-line clients request. */
      scopes: z.array(name).default(["all", "offline"]),
      /** Value of `audience` in their requests; empty: none is sent. */
      audience: z.string().default(""),
    })
    .prefault({}),
  /** Role bindings in addition to those in the table `role_bindings`. */
  roles: z.array(roleSchema).default([]),
  /** Delay until every replica applies a changed role binding, seconds. */
  rolesRefreshSeconds: z.number().positive().default(10),
});

export type AuthConfig = z.infer<typeof authSchema>;
