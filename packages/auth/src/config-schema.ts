import { z } from "zod";
import { WILDCARD, type RoleBinding } from "./binding.js";
import { ROLES } from "./role.js";

const name = z.string().min(1);

/**
 * A role binding in the configuration; it applies to all projects and domains unless it names them.
 */
export const roleSchema = z
  .strictObject({
    /** The `sub` of a token; for a service its client id. */
    subject: name.optional(),
    /** A group of the token, instead of `subject`. */
    group: name.optional(),
    /**
     * Issuer of the tokens with this name; absent: the issuer to which clients are sent, the
     * built-in one or else the first provider.
     */
    issuer: name.optional(),
    /** Role that is granted. */
    role: z.enum(ROLES),
    /** Project of the role; `*`: all. */
    project: name.default(WILDCARD),
    /** Domain of the role; `*`: all. */
    domain: name.default(WILDCARD),
  })
  .refine(({ subject, group }) => (subject === undefined) !== (group === undefined), { message: "give either subject or group" });

/** An external identity provider whose tokens are accepted. */
export const providerSchema = z.strictObject({
  /** Exactly as in the `iss` of its tokens. */
  issuer: z.url(),
  /** Address of its metadata; default: `/.well-known/openid-configuration` below the issuer. */
  metadataUrl: z.url().optional(),
  /**
   * Address of the provider's keys, for a service that cannot reach the address in the metadata.
   * The metadata is then not fetched. The address may be plain HTTP on a network that the operator
   * trusts.
   */
  keysUrl: z.url().optional(),
  /** Accepted values of `aud` in its tokens for Flyte; default: admin's `auth.publicUrl`. */
  audience: z.array(name).default([]),
  /** Scopes that a token must have. */
  requiredScopes: z.array(name).default([]),
  /** The claim that lists groups. */
  groupsClaim: name.default("groups"),
});

/** Metadata key and HTTP header that may carry the token beside `authorization`. */
export const headerKeySchema = z
  .string()
  .regex(/^[a-z0-9_.-]+$/)
  .default("flyte-authorization");

/**
 * Reads the role bindings of a configuration; `firstIssuer` applies to those that name no issuer.
 */
export function bindingsFrom(roles: readonly z.infer<typeof roleSchema>[], firstIssuer: string): RoleBinding[] {
  return roles.map(({ subject, group, issuer = firstIssuer, role, project, domain }) => ({
    kind: subject === undefined ? "group" : "subject",
    name: subject ?? group ?? "",
    issuer,
    role,
    project,
    domain,
  }));
}
