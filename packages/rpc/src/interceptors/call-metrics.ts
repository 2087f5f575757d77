import { Histogram, type Metrics } from "@flyte-ts/telemetry";
import { Code, codeName } from "../code.js";
import { toRpcError } from "../rpc-error.js";
import type { Interceptor } from "../service.js";

/** Measures duration and status of every call of a service, as `flyte_{service}_call_seconds`. */
export function callMetrics(metrics: Metrics, service: string): Interceptor {
  const duration = new Histogram({
    name: `flyte_${service}_call_seconds`,
    help: "Time of a call from its decoded request to its response, by method and status code.",
    labelNames: ["method", "code"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [metrics],
  });
  return async ({ context }, next) => {
    const method = context.method.name;
    const end = duration.startTimer();
    try {
      const response = await next(context);
      end({ method, code: codeName(Code.OK) });
      return response;
    } catch (error) {
      end({ method, code: codeName(toRpcError(error).code) });
      throw error;
    }
  };
}
