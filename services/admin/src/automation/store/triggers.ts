import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Trigger, TriggerIdSchema, TriggerSchema, TriggerState } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Queryable } from "@flyte-ts/postgres";

export interface TriggerName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/** Identity with which a trigger fires: its author at the time of creation. */
export interface Owner {
  readonly subject: string;
  readonly issuer: string;
  readonly groups: readonly string[];
}

export interface StoredTrigger extends TriggerName {
  readonly rowId: bigint;
  /** The trigger of the API. */
  readonly trigger: Trigger;
  readonly active: boolean;
  readonly owner: Owner;
  readonly secretGeneration: number;
  readonly previousSecretUntil: Date | undefined;
}

export interface TriggerRow {
  id: bigint;
  project: string;
  domain: string;
  name: string;
  trigger: Uint8Array;
  active: boolean;
  owner: string;
  owner_issuer: string;
  owner_groups: string[];
  secret_generation: number;
  previous_secret_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

export const triggerColumns = `t.id, t.project, t.domain, t.name, t.trigger, t.active, t.owner, t.owner_issuer, t.owner_groups,
  t.secret_generation, t.previous_secret_until, t.created_at, t.updated_at`;

/** Path prefix of webhooks. */
export const WEBHOOK_PREFIX = "/api/v1/trigger_webhooks/";

export function storedTrigger(row: TriggerRow): StoredTrigger {
  const { project, domain, name, active } = row;
  const given = fromBinary(TriggerSchema, row.trigger);
  return {
    rowId: row.id,
    project,
    domain,
    name,
    trigger: create(TriggerSchema, {
      ...given,
      id: create(TriggerIdSchema, { project, domain, name }),
      state: active ? TriggerState.ACTIVE : TriggerState.PAUSED,
      owner: row.owner,
      createdAt: timestampFromDate(row.created_at),
      updatedAt: timestampFromDate(row.updated_at),
      webhookPath: given.source.case === "webhook" ? WEBHOOK_PREFIX + [project, domain, name].map(encodeURIComponent).join("/") : "",
    }),
    active,
    owner: { subject: row.owner, issuer: row.owner_issuer, groups: row.owner_groups },
    secretGeneration: row.secret_generation,
    previousSecretUntil: row.previous_secret_until ?? undefined,
  };
}

export async function findTrigger(db: Queryable, { project, domain, name }: TriggerName): Promise<StoredTrigger | undefined> {
  const { rows } = await db.query<TriggerRow>({
    name: "find-trigger",
    text: `SELECT ${triggerColumns} FROM triggers t WHERE t.project = $1 AND t.domain = $2 AND t.name = $3`,
    values: [project, domain, name],
  });
  return rows[0] && storedTrigger(rows[0]);
}
