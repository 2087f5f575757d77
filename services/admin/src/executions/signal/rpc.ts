import { alreadyExists, checkText, invalidArgument, missingArgument, nextToken, planList } from "../../platform/index.js";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { literalTypeOf } from "@flyte-ts/domain/literal";
import { isCastable, typeToText } from "@flyte-ts/domain/type";
import { type Signal, SignalSchema } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import { type SignalIdentifier, SignalIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../deps.js";
import { checkExecutionId, executionIdText } from "../model/identifier.js";
import { publishWakeUp, type WakeUpDeps } from "../engine-notifier/publish-wake-up.js";
import { listSignals, signalEntity, type SignalId, type SignalRow, SignalStore } from "../store/signals.js";

/**
 * Signals of gate nodes. As in Flyte, the execution need not exist, and a signal may be set again:
 * the node uses the value that it reads first.
 */
export function signalRpcs(deps: Pick<ExecutionsDeps, "db"> & WakeUpDeps): ServiceImplementation<typeof SignalService> {
  const { db } = deps;
  const store = new SignalStore(db);
  return {
    async getOrCreateSignal({ id, type }) {
      checkSignalId(id);
      if (type === undefined) throw missingArgument("type");
      const bytes = toBinary(LiteralTypeSchema, type);
      const row = await store.getOrInsert(id, bytes);
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
      const row = await store.findToSet(id);
      if (row === undefined) {
        throw invalidArgument(
          `failed to validate that signal [${executionIdText(id.executionId)} ${id.signalId}] exists, err: [signal does not exist]`,
        );
      }
      const wanted = fromBinary(LiteralTypeSchema, row.type);
      const given = literalTypeOf(value);
      if (given === undefined) throw invalidArgument(`value of signal ${id.signalId} has a value of unknown type`);
      if (!isCastable(wanted, given)) {
        throw invalidArgument(
          `requested signal value of type [${typeToText(given)}] is not castable to existing signal type [${typeToText(wanted)}]`,
        );
      }
      await store.setValue(id, toBinary(LiteralSchema, value));
      publishWakeUp(deps, id.executionId, { case: "signalId", value: id.signalId });
      return {};
    },
  };
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
