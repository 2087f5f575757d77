import workerUrl from "../../../node-table/worker.ts?worker&url";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
/** The policy of the pages asks for typed addresses of scripts; it accepts this one file alone. */
const policy = trustedTypes?.createPolicy("flyte-ts-worker", {
  createScriptURL: (url) => {
    if (url !== workerUrl) throw new TypeError(`${url} is no worker of the console`);
    return url;
  },
});

/** Starts the worker that holds the node table of an execution. */
export function startNodeTableWorker(): Worker {
  return new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: "module", name: "node table" });
}
