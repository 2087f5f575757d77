import type { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkExecutionId } from "../execution/identifier.js";
import type { Live } from "./start.js";
import { watchExecution } from "./watch/watch.js";

/** Streams of what happens. */
export function liveRpcs({ feeds, streams }: Live): ServiceImplementation<typeof LiveService> {
  return {
    async *watchExecution({ id, cursor }, { signal }) {
      checkExecutionId(id);
      yield* watchExecution({ feeds, streams, signal }, id, cursor);
    },
  };
}
