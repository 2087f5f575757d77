import type { Queryable } from "@flyte-ts/postgres";

export interface Revocation {
  /** Empty: any issuer. */
  readonly issuer: string;
  readonly subject: string;
}

export async function insertRevocation(db: Queryable, { issuer, subject }: Revocation, now: Date): Promise<void> {
  await db.query({
    text: `INSERT INTO token_revocations (issuer, subject, not_before) VALUES ($1, $2, $3)
      ON CONFLICT (issuer, subject) DO UPDATE SET not_before = greatest(token_revocations.not_before, $3)`,
    values: [issuer, subject, now],
  });
}

export async function loadRevocations(
  db: Queryable,
): Promise<readonly { readonly issuer: string; readonly subject: string; readonly not_before: Date }[]> {
  const { rows } = await db.query<{ issuer: string; subject: string; not_before: Date }>({
    name: "load-token-revocations",
    text: "SELECT issuer, subject, not_before FROM token_revocations",
  });
  return rows;
}
