import { deleteRoleBinding, insertRoleBinding } from "../store/role-bindings.js";
import { deleteGrantsOf } from "../store/issuer-state.js";
import { type Role, ROLES, WILDCARD } from "@flyte-ts/auth";
import type { Queryable } from "@flyte-ts/postgres";
import { isClient, putPublicClient, putServiceClient } from "../store/issuer-clients.js";
import { addSigningKey, dropSigningKeys } from "../store/issuer-keys.js";
import { hashPassword } from "../issuer/password.js";
import { disableUser, isUser, storeUser } from "../store/issuer-users.js";

export interface AccountsDeps {
  readonly db: Queryable;
  readonly clock: () => Date;
  /**
   * Reads the new password. It is not an argument, since all processes of the machine can read
   * those.
   */
  readonly readPassword: () => Promise<string>;
}

export const USAGE = `usage: accounts COMMAND [--config FILE]
  user NAME [DISPLAY NAME] [EMAIL] [GROUP,GROUP…]  creates or changes a user; reads the password from standard input
  disable NAME                                     disables the login of a user
  service NAME                                     creates a client with a new secret and prints it once
  client NAME REDIRECT-URI…                        creates a client for users who log in
  grant subject|group NAME ROLE [PROJECT [DOMAIN]] grants a role; default: in all projects and domains
  revoke subject|group NAME ROLE [PROJECT [DOMAIN]] revokes it
  rotate-key                                       creates a signing key; earlier ones stay valid
  drop-keys DAYS                                   deletes older signing keys, except the newest`;

const MIN_PASSWORD = 12;

/** Runs one command. @returns its output. @throws Error with the usage for an unknown command. */
export async function runAccounts({ db, clock, readPassword }: AccountsDeps, [command, ...args]: readonly string[]): Promise<string> {
  const [name = "", ...more] = args;
  if (command !== "rotate-key" && name === "") throw new Error(USAGE);
  switch (command) {
    case "user":
      return putUser({ db, clock }, { name, password: await readPassword(), more });
    case "disable": {
      if (!(await disableUser(db, name))) throw new Error(`there is no user ${name}`);
      await deleteGrantsOf(db, name);
      return `${name} can no longer log in; issued tokens stay valid until they expire`;
    }
    case "service":
      await requireFree(isUser(db, name), name);
      return putServiceClient(db, name, clock);
    case "client":
      if (more.length === 0) throw new Error(USAGE);
      await requireFree(isUser(db, name), name);
      await putPublicClient(db, { clientId: name, redirectUris: more }, clock);
      return `${name} may request tokens of users`;
    case "grant":
    case "revoke":
      return changeRole({ db, clock }, { kind: name, words: more, give: command === "grant" });
    case "rotate-key":
      return `key ${await addSigningKey(db, clock())} is the signing key from now on; replicas use it within a minute`;
    case "drop-keys": {
      const days = Number(name);
      if (!(days >= 1)) throw new Error("DAYS must be at least 1: tokens of a deleted key become invalid");
      return `${await dropSigningKeys(db, new Date(clock().getTime() - days * 86_400_000))} keys dropped`;
    }
    default:
      throw new Error(USAGE);
  }
}

type Deps = Pick<AccountsDeps, "db" | "clock">;

async function putUser(
  { db, clock }: Deps,
  {
    name,
    password,
    more: [displayName = "", email = "", groups = ""],
  }: { readonly name: string; readonly password: string; readonly more: readonly string[] },
): Promise<string> {
  if (password.length < MIN_PASSWORD) throw new Error(`the password must have ${MIN_PASSWORD} characters or more`);
  await requireFree(isClient(db, name), name);
  await storeUser(db, {
    name,
    passwordHash: await hashPassword(password),
    displayName,
    email,
    groups: groups.split(",").filter((group) => group !== ""),
    now: clock(),
  });
  return `${name} can sign in`;
}

/** A user and a client with the same name would have the same subject, and so the same roles. */
async function requireFree(isTaken: Promise<boolean>, name: string): Promise<void> {
  if (await isTaken) throw new Error(`${name} is in use: users and clients share one namespace`);
}

async function changeRole(
  { db, clock }: Deps,
  {
    kind,
    words: [name = "", role = "", project = WILDCARD, domain = WILDCARD],
    give: grant,
  }: { readonly kind: string; readonly words: readonly string[]; readonly give: boolean },
): Promise<string> {
  if ((kind !== "subject" && kind !== "group") || name === "" || !ROLES.includes(role as Role)) throw new Error(USAGE);
  const binding = { kind, name, role, project, domain };
  if (grant) await insertRoleBinding(db, binding, clock());
  else await deleteRoleBinding(db, binding);
  return `${kind} ${name} ${grant ? "has" : "no longer has"} role ${role} in project ${project}, domain ${domain}`;
}
