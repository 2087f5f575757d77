import { alreadyExists, checkLimit, checkText, invalidArgument, nextPageToken, notFound, parseKeysetPage } from "../../platform/index.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { requireOfCaller } from "@flyte-ts/auth";
import { type FiringSchema, FiringState, type TriggerService, TriggerState } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { CallContext, ServiceImplementation } from "@flyte-ts/rpc";
import { triggerPermissions } from "../../identity/index.js";
import { type CheckDeps, checkTrigger, checkTriggerId } from "./check.js";
import type { DeriveSecret } from "./secret.js";
import {
  beginSecret,
  deleteTrigger,
  findTrigger,
  insertTrigger,
  listTriggers,
  lockTrigger,
  type Owner,
  setTriggerActive,
  type StoredTrigger,
  type TriggerName,
  updateTrigger,
} from "../store/triggers.js";
import { type FiringRow, listFirings } from "../store/firings.js";

export type TriggerDeps = CheckDeps & { readonly deriveSecret: DeriveSecret; readonly clock: () => Date };

const PREVIOUS_SECRET_MS = 86_400_000;

/** Triggers: create, update, pause, list; and their firings. */
export function triggerRpcs(deps: TriggerDeps): ServiceImplementation<typeof TriggerService> {
  const { db, deriveSecret, clock } = deps;
  return {
    async createTrigger({ trigger: given }, context) {
      const { id, trigger } = await checkTrigger(deps, given);
      if (!(await insertTrigger(db, id, { trigger, owner: ownerOf(context) }))) throw alreadyExists(`trigger ${textOf(id)} already exists`);
      const made = await requireTrigger(db, id);
      return {
        trigger: made.trigger,
        webhookSecret: trigger.source.case === "webhook" ? await deriveSecret(made, made.secretGeneration) : "",
      };
    },

    async updateTrigger({ trigger: given }, context) {
      const { id, trigger } = await checkTrigger(deps, given);
      const owner = ownerOf(context);
      const { before, made } = await db.transaction(async (tx) => {
        const before = await requireLocked(tx, id);
        await updateTrigger(tx, before.rowId, { trigger, owner });
        if (!hasSameRights(before, { trigger, owner })) await beginSecret(tx, before.rowId);
        return { before, made: await requireTrigger(tx, id) };
      });
      const isSecretNew = made.secretGeneration !== before.secretGeneration && trigger.source.case === "webhook";
      return { trigger: made.trigger, webhookSecret: isSecretNew ? await deriveSecret(made, made.secretGeneration) : "" };
    },

    async setTriggerState({ id, state }, context) {
      checkTriggerId(id);
      if (state !== TriggerState.ACTIVE && state !== TriggerState.PAUSED)
        throw invalidArgument("invalid value for state: must be ACTIVE or PAUSED");
      const active = state === TriggerState.ACTIVE;
      await db.transaction(async (tx) => {
        const { rowId, trigger } = await requireLocked(tx, id);
        // A resumed trigger starts executions again, as its owner.
        if (active) requireOfCaller(context, triggerPermissions(trigger));
        await setTriggerActive(tx, rowId, active);
      });
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
      if (token.includes("\0")) throw invalidArgument("invalid page token: use the token returned by the previous response");
      const found = await listTriggers(db, { project, domain, afterName: token, limit: most });
      return { triggers: found.map(({ trigger }) => trigger), token: found.length === most ? (found.at(-1)?.name ?? "") : "" };
    },

    async rotateTriggerSecret({ id }, context) {
      checkTriggerId(id);
      const until = new Date(clock().getTime() + PREVIOUS_SECRET_MS);
      const { found, generation } = await db.transaction(async (tx) => {
        const found = await requireLocked(tx, id);
        const { trigger, rowId } = found;
        // The secret starts executions as the owner.
        requireOfCaller(context, triggerPermissions(trigger));
        if (trigger.source.case !== "webhook") throw invalidArgument(`trigger ${textOf(id)} has no webhook and therefore no secret`);
        return { found, generation: await beginSecret(tx, rowId, until) };
      });
      if (generation === undefined) throw missingTrigger(id);
      return { webhookSecret: await deriveSecret(found, generation), previousUntil: timestampFromDate(until) };
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

/** Owner of a new trigger; empty without authentication. */
function ownerOf({ caller }: CallContext): Owner {
  return { subject: caller?.subject ?? "", issuer: caller?.issuer ?? "", groups: caller?.groups ?? [] };
}

/**
 * True when two forms of a trigger fire with the same rights. A secret stands for these rights: it
 * ends when they change, since its holders were chosen for the earlier ones.
 */
function hasSameRights(a: Pick<StoredTrigger, "trigger" | "owner">, b: Pick<StoredTrigger, "trigger" | "owner">): boolean {
  return rightsOf(a).every((each, i) => each === rightsOf(b)[i]);
}

function rightsOf({ trigger: { launchPlan }, owner }: Pick<StoredTrigger, "trigger" | "owner">): unknown[] {
  return [owner.subject, owner.issuer, launchPlan?.project, launchPlan?.domain];
}

async function requireTrigger(db: Queryable, id: TriggerName): Promise<StoredTrigger> {
  const found = await findTrigger(db, id);
  if (found === undefined) throw missingTrigger(id);
  return found;
}

/** Keeps a trigger unchanged between the check of permissions and the change that they allow. */
async function requireLocked(tx: Queryable, id: TriggerName): Promise<StoredTrigger> {
  const found = await lockTrigger(tx, id);
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
