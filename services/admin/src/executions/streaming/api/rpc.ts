import type { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import type { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../../deps.js";
import { listNodeAttempts } from "../../attempt/list-node-attempts.js";
import { checkExecutionId, checkNodeId } from "../../model/identifier.js";
import { watchItemTable } from "../item-table/watch-item-table.js";
import { followLog } from "../logs/log-follower.js";
import type { Streaming } from "./start.js";
import { watchNodeTable } from "../node-table/watch-node-table.js";
import { watchExecution } from "../watch/watch.js";

/** Streams of executions and logs. */
export function streamingRpcs({
  live: { feeds, streams, logStreams },
  ...deps
}: Pick<ExecutionsDeps, "db" | "clusters" | "config" | "blobs"> & { readonly live: Streaming }): ServiceImplementation<typeof LiveService> {
  return {
    async *watchExecution({ id, cursor }, { signal }) {
      checkExecutionId(id);
      yield* watchExecution({ feeds, streams, signal }, id, cursor);
    },
    followLog: (request, { signal }) => followLog({ ...deps, feeds, streams: logStreams }, request, signal),
  };
}

/** Tables of nodes and of the items of array nodes. */
export function nodeTableRpcs({
  db,
  live: { nodeTables, itemTables, streams },
}: Pick<ExecutionsDeps, "db"> & { readonly live: Streaming }): ServiceImplementation<typeof NodeTableService> {
  return {
    async *watchNodeTable({ id, cursor, noFollow }, { signal }) {
      checkExecutionId(id);
      yield* watchNodeTable({ feeds: nodeTables, streams, signal }, id, { cursor, noFollow });
    },
    async *watchItemTable({ id, attempt, cursor, noFollow }, { signal }) {
      checkNodeId(id);
      yield* watchItemTable({ tables: itemTables, streams, signal }, { node: id, attempt }, { cursor, noFollow });
    },
    async listNodeAttempts({ id }) {
      checkNodeId(id);
      return { attempts: await listNodeAttempts(db, id) };
    },
  };
}
