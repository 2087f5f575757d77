import { get } from "node:http";

/** Readiness reported by a service. */
export interface ReadinessResponse {
  readonly ready: boolean;
  readonly text: string;
}

/**
 * Queries /readyz of a local service. Each service of a stack is queried twenty times a second while it starts and the
 * processors are busy: Node's `fetch` takes several times as long.
 *
 * @throws when no process listens there, or after `patienceMs`.
 */
export function probeReadiness(port: number, timeoutMs: number): Promise<ReadinessResponse> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get({ host: "127.0.0.1", port, path: "/readyz", agent: false, signal }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => resolve({ ready: response.statusCode === 200, text: text.trim() }));
    });
    request.once("error", reject);
  });
}
