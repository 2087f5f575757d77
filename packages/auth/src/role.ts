/**
 * Roles of a caller in a project and domain. `viewer`, `runner`, `contributor` and `admin` each
 * include the previous ones; `engine` is for services that run executions: it reads, launches and
 * reports, and includes no more than `runner`.
 */
export const ROLES = ["viewer", "runner", "contributor", "admin", "engine"] as const;

export type Role = (typeof ROLES)[number];

const INCLUDES: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ["viewer"],
  runner: ["viewer", "runner"],
  contributor: ["viewer", "runner", "contributor"],
  admin: ["viewer", "runner", "contributor", "admin"],
  engine: ["viewer", "runner", "engine"],
};

/** True when a role is the needed one or includes it. */
export function includesRole(held: Role, needed: Role): boolean {
  return INCLUDES[held].includes(needed);
}
