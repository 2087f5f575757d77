import type { Logger } from "@flyte-ts/telemetry";
import { Code, codeName } from "../code.js";
import { toRpcError } from "../rpc-error.js";
import type { Interceptor } from "../service.js";

/**
 * Logs each call at level debug: method, status and duration, with the request id that its caller
 * knows.
 */
export function callLog(logger: Logger): Interceptor {
  return async ({ context }, next) => {
    if (!logger.isLevelEnabled("debug")) return next(context);
    const begun = performance.now();
    const log = (code: Code) => {
      const { requestId, method, peer, transport } = context;
      const ms = Math.round((performance.now() - begun) * 10) / 10;
      logger.debug({ requestId, method: `${method.parent.typeName}/${method.name}`, peer, transport, code: codeName(code), ms }, "call");
    };
    try {
      const response = await next(context);
      log(Code.OK);
      return response;
    } catch (error) {
      log(toRpcError(error).code);
      throw error;
    }
  };
}
