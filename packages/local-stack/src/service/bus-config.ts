import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../state/paths.js";

/** Services that use the message bus; each is a user of the server, with the subjects of `deploy/bus/users.json`. */
export const BUS_USERS = ["admin", "propeller", "plugin-pod", "plugin-echo"] as const;

export type BusUser = (typeof BUS_USERS)[number];

/** Password of each user. */
export type BusPasswords = Readonly<Record<BusUser, string>>;

/**
 * Writes the configuration of the NATS server: its users, and the subjects on which each may publish and subscribe.
 * Readable by its owner alone.
 */
export function writeBusConfig(file: string, passwords: BusPasswords): void {
  const permissions = JSON.parse(readFileSync(join(repositoryRoot, "deploy", "bus", "users.json"), "utf8")) as Record<BusUser, object>;
  const users = BUS_USERS.map((user) => ({ user, password: passwords[user], permissions: permissions[user] }));
  // Writing to an existing file would keep its mode.
  rmSync(file, { force: true });
  // The server's format includes JSON.
  writeFileSync(file, JSON.stringify({ authorization: { users } }, null, 2), { mode: 0o600 });
}

/** Address of the bus with the user and password of a service. */
export function busUrlFor(user: BusUser, { url, passwords }: { readonly url: string; readonly passwords: BusPasswords }): string {
  const address = new URL(url);
  return `${address.protocol}//${user}:${encodeURIComponent(passwords[user])}@${address.host}`;
}
