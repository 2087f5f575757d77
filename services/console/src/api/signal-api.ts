import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { SignalJson, SignalListJson } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionKey } from "./scope.js";

export interface SignalApi {
  /** Signals that gate nodes of an execution have created, with their types. */
  list(key: ExecutionKey, signal: AbortSignal): Promise<readonly SignalJson[]>;
  set(key: ExecutionKey, signalId: string, value: LiteralJson): Promise<void>;
}

/** Signals that are read of an execution; more are very rare. */
const MAX_SIGNALS = 100;

export function signalApi(rest: RestClient): SignalApi {
  return {
    list: async ({ project, domain, name }, signal) => {
      const page = await rest.call<SignalListJson>(pathOf("api/v1/signals", project, domain, name), {
        query: { limit: MAX_SIGNALS },
        signal,
      });
      return page.signals ?? [];
    },
    set: async (key, signalId, value) => {
      await rest.call("/api/v1/signals", { method: "POST", body: { id: { signalId, executionId: key }, value } });
    },
  };
}
