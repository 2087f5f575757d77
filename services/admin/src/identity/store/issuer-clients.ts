import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database, Queryable } from "@flyte-ts/postgres";

/**
 * An OAuth client: `public` ones get tokens for users, `service` ones for themselves with a secret.
 */
export interface Client {
  readonly clientId: string;
  readonly kind: "public" | "service";
  readonly secretHash: string;
  readonly redirectUris: readonly string[];
}

interface Row {
  client_id: string;
  kind: Client["kind"];
  secret_hash: string;
  redirect_uris: string[];
}

export async function findClient(db: Queryable, clientId: string): Promise<Client | undefined> {
  if (clientId.includes("\0")) return undefined;
  const { rows } = await db.query<Row>({
    name: "find-issuer-client",
    text: "SELECT client_id, kind, secret_hash, redirect_uris FROM issuer_clients WHERE client_id = $1",
    values: [clientId],
  });
  const [row] = rows;
  return row && { clientId: row.client_id, kind: row.kind, secretHash: row.secret_hash, redirectUris: row.redirect_uris };
}

/** 256 random bits; they need no slow hash. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

export function secretMatches(hash: string, secret: string): boolean {
  const [known, given] = [Buffer.from(hash), Buffer.from(hashSecret(secret))];
  return known.length === given.length && timingSafeEqual(known, given);
}

/**
 * Creates the client, or replaces its secret. @returns the secret, which is stored only as a hash.
 */
export async function putServiceClient(db: Queryable, clientId: string, clock: () => Date): Promise<string> {
  const secret = newSecret();
  await db.query({
    text: `INSERT INTO issuer_clients (client_id, kind, secret_hash, created_at) VALUES ($1, 'service', $2, $3)
      ON CONFLICT (client_id) DO UPDATE SET kind = 'service', secret_hash = $2`,
    values: [clientId, hashSecret(secret), clock()],
  });
  return secret;
}

export async function putPublicClient(
  db: Queryable,
  client: { clientId: string; redirectUris: readonly string[] },
  clock: () => Date,
): Promise<void> {
  await db.query({
    text: `INSERT INTO issuer_clients (client_id, kind, redirect_uris, created_at) VALUES ($1, 'public', $2, $3)
      ON CONFLICT (client_id) DO UPDATE SET kind = 'public', secret_hash = '', redirect_uris = $2`,
    values: [client.clientId, client.redirectUris, clock()],
  });
}

export interface SeedOptions {
  readonly services: readonly string[];
  /**
   * Folder in which the secret of each new service is written to the file `{client id}`; undefined:
   * no services are created.
   */
  readonly secretsFolder: string | undefined;
  readonly clock: () => Date;
}

/**
 * Creates missing services, each with a secret that only one file contains. The file is written
 * first: otherwise a crash would leave a service with an unknown secret, which is never created
 * again.
 */
export async function seedServices(db: Database, { services, secretsFolder, clock }: SeedOptions): Promise<void> {
  if (secretsFolder === undefined) return;
  for (const clientId of services) {
    const secret = newSecret();
    await db.transaction(async (tx) => {
      const { rowCount } = await tx.query({
        text: `INSERT INTO issuer_clients (client_id, kind, secret_hash, created_at) VALUES ($1, 'service', $2, $3) ON CONFLICT DO NOTHING`,
        values: [clientId, hashSecret(secret), clock()],
      });
      if (rowCount === 0) return;
      await mkdir(secretsFolder, { recursive: true, mode: 0o700 });
      await writeFile(join(secretsFolder, clientId), secret, { mode: 0o600, flush: true });
    });
  }
}

export async function isClient(db: Queryable, clientId: string): Promise<boolean> {
  return (await db.query({ text: "SELECT FROM issuer_clients WHERE client_id = $1", values: [clientId] })).rowCount > 0;
}
