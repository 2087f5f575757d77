import type { Queryable } from "@flyte-ts/postgres";
import type { ListPlan } from "../../platform/list-query/plan.js";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { literalTypeOf } from "@flyte-ts/domain/literal";
import { isCastable, typeToText } from "@flyte-ts/domain/type";
import { type Signal, SignalSchema } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import { type SignalIdentifier, SignalIdentifierSchema, type WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { AdminDeps } from "../../deps.js";
import { checkExecutionId, executionIdText } from "../execution/identifier.js";
import { checkText } from "../../platform/identifiers.js";
import { alreadyExists, invalidArgument, missingArgument } from "../../platform/rpc-errors.js";
import { planList, selectPage } from "../../platform/list-query/plan.js";
import { nextToken } from "../../platform/list-query/token.js";
import { publishWakeUp, type WakeUpDeps } from "../engine-notifier/publish-wake-up.js";
import { signalEntity } from "../store/signal/list-entity.js";

export interface SignalRow {
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  signal_id: string;
  type: Uint8Array;
  value: Uint8Array | null;
}

const columns = "execution_project, execution_domain, execution_name, signal_id, type, value";

type SignalId = SignalIdentifier & { readonly executionId: WorkflowExecutionIdentifier };

/**
 * Signals of gate nodes. As in Flyte, the execution need not exist, and a signal may be set again: the node uses the
 * value that it reads first.
 */
export function signalRpcs(deps: Pick<AdminDeps, "db"> & WakeUpDeps): ServiceImplementation<typeof SignalService> {
  const { db } = deps;
  return {
    async getOrCreateSignal({ id, type }) {
      checkSignalId(id);
      if (type === undefined) throw missingArgument("type");
      const bytes = toBinary(LiteralTypeSchema, type);
      const row = await getOrInsertSignal(db, id, bytes);
      if (row === undefined || !Buffer.from(row.type).equals(bytes)) {
        throw alreadyExists(`signal ${id.signalId}: value with matching already exists, with another type`);
      }
      return signalOf(row);
    },

    async listSignals({ workflowExecutionId: id, limit, token, filters, sortBy }) {
      if (id === undefined) throw missingArgument("execution_id");
      checkExecutionId(id, "execution_id");
      const equal = { execution_project: id.project, execution_domain: id.domain, execution_name: id.name };
      const plan = planList(signalEntity, { rpc: "ListSignals", limit, token, filters, sortBy, equal });
      const rows = await listSignals(db, plan);
      return { signals: rows.map(signalOf), token: nextToken(plan, rows.length) };
    },

    async setSignal({ id, value }) {
      checkSignalId(id);
      if (value === undefined) throw missingArgument("value");
      const row = await findSignal(db, id);
      if (row === undefined) {
        throw invalidArgument(
          `failed to validate that signal [${executionIdText(id.executionId)} ${id.signalId}] exists, err: [signal does not exist]`,
        );
      }
      const wanted = fromBinary(LiteralTypeSchema, row.type);
      const given = literalTypeOf(value);
      if (given === undefined) throw invalidArgument(`value of signal ${id.signalId} holds a value of unknown type`);
      if (!isCastable(wanted, given)) {
        throw invalidArgument(
          `requested signal value of type [${typeToText(given)}] is not castable to existing signal type [${typeToText(wanted)}]`,
        );
      }
      await setSignalValue(db, id, toBinary(LiteralSchema, value));
      publishWakeUp(deps, id.executionId, { case: "signalId", value: id.signalId });
      return {};
    },
  };
}

const isKey = "execution_project = $1 AND execution_domain = $2 AND execution_name = $3 AND signal_id = $4";

function key({ executionId: { project, domain, name }, signalId }: SignalId): string[] {
  return [project, domain, name, signalId];
}

function checkSignalId(id: SignalIdentifier | undefined): asserts id is SignalId {
  if (id === undefined) throw missingArgument("id");
  if (id.executionId === undefined) throw missingArgument("execution_id");
  checkText(id.signalId, "signal_id");
  checkExecutionId(id.executionId, "execution_id");
}

function signalOf(row: SignalRow): Signal {
  const executionId = { project: row.execution_project, domain: row.execution_domain, name: row.execution_name };
  return create(SignalSchema, {
    id: create(SignalIdentifierSchema, { signalId: row.signal_id, executionId }),
    type: fromBinary(LiteralTypeSchema, row.type),
    ...(row.value !== null && { value: fromBinary(LiteralSchema, row.value) }),
  });
}

/** Returns the signal; inserts it when it does not exist. */
async function getOrInsertSignal(db: Queryable, id: SignalId, type: Uint8Array): Promise<SignalRow | undefined> {
  // The update changes nothing; it makes the statement return the existing row.
  const { rows } = await db.query<SignalRow>({
    name: "get-or-create-signal",
    text: `INSERT INTO signals (execution_project, execution_domain, execution_name, signal_id, type) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (execution_project, execution_domain, execution_name, signal_id) DO UPDATE SET type = signals.type
      RETURNING ${columns}`,
    values: [...key(id), type],
  });
  return rows[0];
}

async function findSignal(db: Queryable, id: SignalId): Promise<SignalRow | undefined> {
  const { rows } = await db.query<SignalRow>({
    name: "find-signal",
    text: `SELECT ${columns} FROM signals WHERE ${isKey}`,
    values: key(id),
  });
  return rows[0];
}

async function listSignals(db: Queryable, plan: ListPlan): Promise<readonly SignalRow[]> {
  return (await db.query<SignalRow>(selectPage(plan, columns))).rows;
}

async function setSignalValue(db: Queryable, id: SignalId, value: Uint8Array): Promise<void> {
  await db.query({
    name: "set-signal",
    text: `UPDATE signals SET value = $5, updated_at = clock_timestamp() WHERE ${isKey}`,
    values: [...key(id), value],
  });
}
