import type { Queryable } from "@flyte-ts/postgres";
import type { KeysetPage } from "../../platform/keyset-page.js";
import { type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type FiringSchema,
  FiringState,
  type Trigger,
  TriggerSchema,
  type TriggerService,
  TriggerState,
} from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { workflowPhaseName } from "../../executions/projection/phase-name.js";
import { checkText } from "../../platform/identifiers.js";
import { alreadyExists, invalidArgument, notFound } from "../../platform/rpc-errors.js";
import { parseKeysetPage, nextPageToken, checkLimit } from "../../platform/keyset-page.js";
import type { CallContext, ServiceImplementation } from "@flyte-ts/rpc";
import { type CheckDeps, checkTrigger, checkTriggerId } from "./check.js";
import type { DeriveSecret } from "./secret.js";
import {
  findTrigger,
  type Owner,
  type StoredTrigger,
  storedTrigger,
  triggerColumns,
  type TriggerName,
  type TriggerRow,
} from "../store/triggers.js";

export type TriggerDeps = CheckDeps & { readonly deriveSecret: DeriveSecret; readonly clock: () => Date };

const PREVIOUS_SECRET_MS = 86_400_000;

/** Triggers: create, update, pause, list; and their firings. */
export function triggerRpcs(deps: TriggerDeps): ServiceImplementation<typeof TriggerService> {
  const { db, deriveSecret: secretOf, clock } = deps;
  return {
    async createTrigger({ trigger: given }, context) {
      const { id, trigger } = await checkTrigger(deps, given);
      if (!(await insertTrigger(db, id, { trigger, owner: ownerOf(context) }))) throw alreadyExists(`trigger ${textOf(id)} exists already`);
      const made = await requireTrigger(db, id);
      return { trigger: made.trigger, webhookSecret: trigger.source.case === "webhook" ? await secretOf(made, made.secretGeneration) : "" };
    },

    async updateTrigger({ trigger: given }, context) {
      const { id, trigger } = await checkTrigger(deps, given);
      if (!(await updateTrigger(db, id, { trigger, owner: ownerOf(context) }))) throw missingTrigger(id);
      return { trigger: (await requireTrigger(db, id)).trigger };
    },

    async setTriggerState({ id, state }) {
      checkTriggerId(id);
      if (state !== TriggerState.ACTIVE && state !== TriggerState.PAUSED)
        throw invalidArgument("invalid value for state: ACTIVE or PAUSED is wanted");
      if (!(await setTriggerActive(db, id, state === TriggerState.ACTIVE))) throw missingTrigger(id);
      return {};
    },

    async deleteTrigger({ id }) {
      checkTriggerId(id);
      if (!(await deleteTrigger(db, id))) throw missingTrigger(id);
      return {};
    },

    async getTrigger({ id }) {
      checkTriggerId(id);
      return (await requireTrigger(db, id)).trigger;
    },

    async listTriggers({ project, domain, limit, token }) {
      checkProjectDomain({ project, domain });
      const most = checkLimit(limit);
      if (token.includes("\0")) throw invalidArgument("invalid value for token: it is not from an answer before");
      const found = await listTriggers(db, { project, domain, afterName: token, limit: most });
      return { triggers: found.map(({ trigger }) => trigger), token: found.length === most ? (found.at(-1)?.name ?? "") : "" };
    },

    async rotateTriggerSecret({ id }) {
      checkTriggerId(id);
      const trigger = await requireTrigger(db, id);
      if (trigger.trigger.source.case !== "webhook") throw invalidArgument(`trigger ${textOf(id)} has no webhook, hence no secret`);
      const until = new Date(clock().getTime() + PREVIOUS_SECRET_MS);
      const generation = await rotateSecret(db, trigger.rowId, until);
      if (generation === undefined) throw missingTrigger(id);
      return { webhookSecret: await secretOf(trigger, generation), previousUntil: timestampFromDate(until) };
    },

    async listFirings({ project, domain, name, state, limit, token }) {
      checkProjectDomain({ project, domain });
      if (name !== "") checkText(name, "name");
      if (FiringState[state] === undefined) throw invalidArgument(`invalid value for state: ${state} is none`);
      const page = parseKeysetPage({ limit, token });
      const wanted = Object.entries(STATES).find(([, value]) => value === state)?.[0];
      const rows = await listFirings(db, { project, domain, name, state: wanted, page });
      return { firings: rows.map(firingOf), token: nextPageToken(rows, page) };
    },
  };
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
    execution?.phases.map(workflowPhaseName),
    owner.subject,
    owner.issuer,
    owner.groups,
  ];
}

/** Owner of a new trigger; empty without authentication. */
function ownerOf({ caller }: CallContext): Owner {
  return { subject: caller?.subject ?? "", issuer: caller?.issuer ?? "", groups: caller?.groups ?? [] };
}

async function requireTrigger(db: CheckDeps["db"], id: TriggerName): Promise<StoredTrigger> {
  const found = await findTrigger(db, id);
  if (found === undefined) throw missingTrigger(id);
  return found;
}

const textOf = ({ project, domain, name }: TriggerName): string => `${project}/${domain}/${name}`;
const missingTrigger = (id: TriggerName) => notFound(`there is no trigger ${textOf(id)}`);

/** @throws RpcError INVALID_ARGUMENT. */
function checkProjectDomain({ project, domain }: { readonly project: string; readonly domain: string }): void {
  checkText(project, "project");
  checkText(domain, "domain");
}

export interface FiringRow extends TriggerName {
  id: bigint;
  source_execution_id: bigint | null;
  source_project: string;
  source_domain: string;
  source_name: string;
  delivery_id: string;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  depth: number;
  state: "waiting" | "started" | "refused";
  reason: string;
  attempts: number;
  created_at: Date;
  ended_at: Date | null;
}

const STATES = { waiting: FiringState.WAITING, started: FiringState.STARTED, refused: FiringState.REFUSED } as const;

function firingOf(row: FiringRow): MessageInitShape<typeof FiringSchema> {
  const { project, domain, name } = row;
  return {
    trigger: { project, domain, name },
    cause:
      row.source_execution_id === null
        ? { case: "deliveryId", value: row.delivery_id }
        : { case: "execution", value: { project: row.source_project, domain: row.source_domain, name: row.source_name } },
    state: STATES[row.state],
    reason: row.reason,
    started: { project: row.execution_project, domain: row.execution_domain, name: row.execution_name },
    depth: row.depth,
    attempts: row.attempts,
    createdAt: timestampFromDate(row.created_at),
    ...(row.ended_at && { endedAt: timestampFromDate(row.ended_at) }),
  };
}

async function insertTrigger(
  db: Queryable,
  { project, domain, name }: TriggerName,
  { trigger, owner }: { readonly trigger: Trigger; readonly owner: Owner },
): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: `INSERT INTO triggers (project, domain, name, ${COLUMNS.join(", ")}) VALUES ($1, $2, $3, ${placeholders(4)})
      ON CONFLICT DO NOTHING`,
    values: [project, domain, name, ...columnsOf(trigger, owner)],
  });
  return count > 0;
}

async function updateTrigger(
  db: Queryable,
  { project, domain, name }: TriggerName,
  { trigger, owner }: { readonly trigger: Trigger; readonly owner: Owner },
): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: `UPDATE triggers SET (${COLUMNS.join(", ")}) = (${placeholders(4)}), updated_at = now()
      WHERE project = $1 AND domain = $2 AND name = $3`,
    values: [project, domain, name, ...columnsOf(trigger, owner)],
  });
  return count > 0;
}

async function setTriggerActive(db: Queryable, { project, domain, name }: TriggerName, active: boolean): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: "UPDATE triggers SET active = $4, updated_at = now() WHERE project = $1 AND domain = $2 AND name = $3",
    values: [project, domain, name, active],
  });
  return count > 0;
}

async function deleteTrigger(db: Queryable, { project, domain, name }: TriggerName): Promise<boolean> {
  const { rowCount: count } = await db.query({
    text: "DELETE FROM triggers WHERE project = $1 AND domain = $2 AND name = $3",
    values: [project, domain, name],
  });
  return count > 0;
}

/** Lists triggers in order of their names, after a name. */
async function listTriggers(
  db: Queryable,
  page: { readonly project: string; readonly domain: string; readonly afterName: string; readonly limit: number },
): Promise<readonly StoredTrigger[]> {
  const { rows } = await db.query<TriggerRow>({
    text: `SELECT ${triggerColumns} FROM triggers t WHERE t.project = $1 AND t.domain = $2 AND t.name > $3 ORDER BY t.name LIMIT $4`,
    values: [page.project, page.domain, page.afterName, page.limit],
  });
  return rows.map(storedTrigger);
}

/** Begins a new generation of a trigger's secret and returns it; the previous one stays valid until the given time. */
async function rotateSecret(db: Queryable, rowId: bigint, previousUntil: Date): Promise<number | undefined> {
  const { rows } = await db.query<{ generation: number }>({
    text: `UPDATE triggers SET secret_generation = secret_generation + 1, previous_secret_until = $2 WHERE id = $1
      RETURNING secret_generation AS generation`,
    values: [rowId, previousUntil],
  });
  return rows[0]?.generation;
}

export interface FiringFilter {
  readonly project: string;
  readonly domain: string;
  /** Name of the trigger; empty: all. */
  readonly name: string;
  readonly state: string | undefined;
  readonly page: KeysetPage;
}

/** Lists firings, newest first. */
async function listFirings(db: Queryable, { project, domain, name, state, page }: FiringFilter): Promise<readonly FiringRow[]> {
  const { rows } = await db.query<FiringRow>({
    text: `SELECT f.*, t.project, t.domain, t.name FROM trigger_firings f JOIN triggers t ON t.id = f.trigger_id
      WHERE t.project = $1 AND t.domain = $2 AND ($3 = '' OR t.name = $3) AND ($4::text IS NULL OR f.state = $4)
        AND ($5::bigint IS NULL OR f.id < $5)
      ORDER BY f.id DESC LIMIT $6`,
    values: [project, domain, name, state, page.before, page.limit],
  });
  return rows;
}
