import type { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../../deps.js";
import { checkExecutionId } from "../../model/identifier.js";
import { followLog } from "../logs/log-follower.js";
import type { Streaming } from "./start.js";
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
