import { rmSync, writeFileSync } from "node:fs";
import { busUsers, type ServiceManifest } from "@flyte-ts/service-manifest";

/**
 * Password of each user of the message bus, by the name of the user, which is the id of a service.
 */
export type BusPasswords = Readonly<Record<string, string>>;

/**
 * Writes the configuration of the NATS server: its users, and the subjects on which each may
 * publish and subscribe. Readable by its owner alone.
 */
export function writeBusConfig(file: string, passwords: BusPasswords, services: readonly ServiceManifest[]): void {
  const users = Object.entries(busUsers(services)).map(([user, permissions]) => ({ user, password: passwords[user], permissions }));
  // Writing to an existing file would keep its mode.
  rmSync(file, { force: true });
  // The server's format includes JSON.
  writeFileSync(file, JSON.stringify({ authorization: { users } }, null, 2), { mode: 0o600 });
}

/** Address of the bus with the user and password of a service. */
export function busUrlFor(user: string, { url, passwords }: { readonly url: string; readonly passwords: BusPasswords }): string {
  const address = new URL(url);
  const password = passwords[user];
  if (password === undefined) throw new Error(`${user} has no password for the message bus`);
  return `${address.protocol}//${user}:${encodeURIComponent(password)}@${address.host}`;
}
