import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { Code } from "./code.js";
import { RpcError } from "./rpc-error.js";
import { implement, type ServedService } from "./service.js";

export interface HealthSwitch {
  readonly served: ServedService;
  /** Tells every watcher that the server takes no more calls. */
  stopServing(): void;
}

/** The standard health service; the empty name is the server as a whole. */
export function createHealth(names: readonly string[]): HealthSwitch {
  const known = new Set(["", ...names]);
  const waiting = new Set<() => void>();
  let status = ServingStatus.SERVING;
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
      while (!signal.aborted) {
        const told = status;
        yield { status: told };
        if (told === ServingStatus.NOT_SERVING) return;
        await Promise.race([aborted(signal), new Promise<void>((resolve) => waiting.add(resolve))]);
      }
    },
  });
  return {
    served,
    stopServing() {
      status = ServingStatus.NOT_SERVING;
      for (const wake of waiting) wake();
      waiting.clear();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
