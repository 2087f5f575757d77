import { deleteRoleBinding, insertRoleBinding } from "../store/role-bindings.js";
import { deleteGrantsOf } from "../store/issuer-state.js";
import type { Queryable } from "@flyte-ts/postgres";
import { isClient, putPublicClient, putServiceClient } from "../store/issuer-clients.js";
import { addSigningKey, dropSigningKeys } from "../store/issuer-keys.js";
import { hashPassword } from "../issuer/password.js";
import type { AccountsCommand, RoleCommand, UserCommand } from "./parse-command.js";
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

const MIN_PASSWORD = 12;

/** Runs one command. Returns its output. @throws Error with the reason in one line. */
export async function runAccounts({ db, clock, readPassword }: AccountsDeps, command: AccountsCommand): Promise<string> {
  switch (command.action) {
    case "user":
      return putUser({ db, clock }, { ...command, password: await readPassword() });
    case "disable": {
      const { name } = command;
      if (!(await disableUser(db, name))) throw new Error(`there is no user ${name}`);
      await deleteGrantsOf(db, name);
      return `${name} can no longer log in; issued tokens stay valid until they expire`;
    }
    case "service":
      await requireFree(isUser(db, command.name), command.name);
      return putServiceClient(db, command.name, clock);
    case "client": {
      const { name, redirectUris } = command;
      await requireFree(isUser(db, name), name);
      await putPublicClient(db, { clientId: name, redirectUris }, clock);
      return `${name} may request tokens of users`;
    }
    case "grant":
    case "revoke":
      return changeRole({ db, clock }, command);
    case "rotate-key":
      return `key ${await addSigningKey(db, clock())} is the signing key from now on; replicas use it within a minute`;
    case "drop-keys":
      return `${await dropSigningKeys(db, new Date(clock().getTime() - command.days * 86_400_000))} keys dropped`;
  }
}

type Deps = Pick<AccountsDeps, "db" | "clock">;

async function putUser(
  { db, clock }: Deps,
  { name, displayName, email, groups, password }: UserCommand & { readonly password: string },
): Promise<string> {
  if (password.length < MIN_PASSWORD) throw new Error(`the password must have ${MIN_PASSWORD} characters or more`);
  await requireFree(isClient(db, name), name);
  await storeUser(db, { name, passwordHash: await hashPassword(password), displayName, email, groups, now: clock() });
  return `${name} can sign in`;
}

/** A user and a client with the same name would have the same subject, and so the same roles. */
async function requireFree(isTaken: Promise<boolean>, name: string): Promise<void> {
  if (await isTaken) throw new Error(`${name} is in use: users and clients share one namespace`);
}

async function changeRole({ db, clock }: Deps, { action, kind, name, role, project, domain }: RoleCommand): Promise<string> {
  const binding = { kind, name, role, project, domain };
  if (action === "grant") await insertRoleBinding(db, binding, clock());
  else await deleteRoleBinding(db, binding);
  const has = action === "grant" ? "has" : "no longer has";
  return `${kind} ${name} ${has} role ${role} in project ${project}, domain ${domain}`;
}
