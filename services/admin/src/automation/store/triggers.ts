import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Trigger, TriggerIdSchema, TriggerSchema, TriggerState } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { phaseNames } from "../../executions/index.js";

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
  /** The trigger in the form of the API. */
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

const SELECT_ONE = `SELECT ${triggerColumns} FROM triggers t WHERE t.project = $1 AND t.domain = $2 AND t.name = $3`;

export async function findTrigger(db: Queryable, { project, domain, name }: TriggerName): Promise<StoredTrigger | undefined> {
  const { rows } = await db.query<TriggerRow>({ name: "find-trigger", text: SELECT_ONE, values: [project, domain, name] });
  return rows[0] && storedTrigger(rows[0]);
}

/** Finds a trigger and keeps other transactions from changing it. */
export async function lockTrigger(tx: Queryable, { project, domain, name }: TriggerName): Promise<StoredTrigger | undefined> {
  const { rows } = await tx.query<TriggerRow>({ text: `${SELECT_ONE} FOR UPDATE`, values: [project, domain, name] });
  return rows[0] && storedTrigger(rows[0]);
}

const COLUMNS = [
  "trigger",
  "target_project",
  "target_domain",
  "source_project",
  "source_domain",
  "source_launch_plan",
  "source_workflow",
  "source_phases",
  "owner",
  "owner_issuer",
  "owner_groups",
] as const;

const placeholders = (first: number): string => COLUMNS.map((_, i) => `$${first + i}`).join(", ");

function columnsOf(trigger: Trigger, owner: Owner): unknown[] {
  const { launchPlan, source } = trigger;
  const execution = source.case === "execution" ? source.value : undefined;
  return [
    toBinary(TriggerSchema, trigger),
    launchPlan?.project,
    launchPlan?.domain,
    execution?.project,
    execution?.domain,
    execution?.launchPlan,
    execution?.workflow,
    execution?.phases.map(phaseNames.workflowPhaseName),
    owner.subject,
    owner.issuer,
    owner.groups,
  ];
}

export async function insertTrigger(
  db: Queryable,
  { project, domain, name }: TriggerName,
  { trigger, owner }: { readonly trigger: Trigger; readonly owner: Owner },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `INSERT INTO triggers (project, domain, name, ${COLUMNS.join(", ")}) VALUES ($1, $2, $3, ${placeholders(4)})
      ON CONFLICT DO NOTHING`,
    values: [project, domain, name, ...columnsOf(trigger, owner)],
  });
  return rowCount > 0;
}

export async function updateTrigger(
  db: Queryable,
  rowId: bigint,
  { trigger, owner }: { readonly trigger: Trigger; readonly owner: Owner },
): Promise<void> {
  await db.query({
    text: `UPDATE triggers SET (${COLUMNS.join(", ")}) = (${placeholders(2)}), updated_at = now() WHERE id = $1`,
    values: [rowId, ...columnsOf(trigger, owner)],
  });
}

export async function setTriggerActive(db: Queryable, rowId: bigint, active: boolean): Promise<void> {
  await db.query({ text: "UPDATE triggers SET active = $2, updated_at = now() WHERE id = $1", values: [rowId, active] });
}

export async function deleteTrigger(db: Queryable, { project, domain, name }: TriggerName): Promise<boolean> {
  const { rowCount } = await db.query({
    text: "DELETE FROM triggers WHERE project = $1 AND domain = $2 AND name = $3",
    values: [project, domain, name],
  });
  return rowCount > 0;
}

/** Lists triggers in order of their names, after a name. */
export async function listTriggers(
  db: Queryable,
  page: { readonly project: string; readonly domain: string; readonly afterName: string; readonly limit: number },
): Promise<readonly StoredTrigger[]> {
  const { rows } = await db.query<TriggerRow>({
    text: `SELECT ${triggerColumns} FROM triggers t WHERE t.project = $1 AND t.domain = $2 AND t.name > $3 ORDER BY t.name LIMIT $4`,
    values: [page.project, page.domain, page.afterName, page.limit],
  });
  return rows.map(storedTrigger);
}

/**
 * Begins a new generation of a trigger's secret and returns it; the previous one stays valid until
 * the given time, and ends at once without one.
 */
export async function beginSecret(db: Queryable, rowId: bigint, previousUntil?: Date): Promise<number | undefined> {
  const { rows } = await db.query<{ generation: number }>({
    text: `UPDATE triggers SET secret_generation = secret_generation + 1, previous_secret_until = $2 WHERE id = $1
      RETURNING secret_generation AS generation`,
    values: [rowId, previousUntil ?? null],
  });
  return rows[0]?.generation;
}
