import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { Code } from "../code.js";
import { RpcError } from "../rpc-error.js";
import { implement, type ServedService } from "../service.js";

export interface HealthService {
  readonly served: ServedService;
  /** Number of watching calls. */
  readonly watchers: number;
  /** Reports to every watcher that the server accepts no more calls. */
  stopServing(): void;
}

/** The standard health service; the empty name represents the whole server. */
export function createHealth(names: readonly string[]): HealthService {
  const known = new Set(["", ...names]);
  const watchers = new Set<() => void>();
  let status = ServingStatus.SERVING;
  const changed = async (signal: AbortSignal): Promise<void> => {
    const change = Promise.withResolvers<void>();
    watchers.add(change.resolve);
    await Promise.race([aborted(signal), change.promise]);
    watchers.delete(change.resolve);
  };
  const served = implement(Health, {
    check({ service }) {
      if (!known.has(service)) throw new RpcError(Code.NOT_FOUND, "unknown service");
      return { status };
    },
    async *watch({ service }, { signal }) {
      if (!known.has(service)) {
        yield { status: ServingStatus.SERVICE_UNKNOWN };
        await aborted(signal);
        return;
      }
      let lastStatus: ServingStatus | undefined;
      while (!signal.aborted && lastStatus !== ServingStatus.NOT_SERVING) {
        // The status may change while it is sent.
        if (lastStatus === status) {
          await changed(signal);
          continue;
        }
        lastStatus = status;
        yield { status };
      }
    },
  });
  return {
    served,
    get watchers() {
      return watchers.size;
    },
    stopServing() {
      status = ServingStatus.NOT_SERVING;
      for (const wake of watchers) wake();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
