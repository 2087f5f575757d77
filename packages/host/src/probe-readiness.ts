import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps, type RequestOptions } from "node:https";

export interface ProbeOptions {
  /** Timeout of the request, ms. */
  readonly timeoutMs: number;
  /** Bearer token. */
  readonly token?: string | undefined;
  /** CA certificate of an https server, PEM. */
  readonly ca?: string | undefined;
}

/** Readiness reported by a server. */
export interface ReadinessResponse {
  readonly ready: boolean;
  readonly text: string;
}

/**
 * Queries `/readyz` of a server on this machine. Each service of a stack is queried twenty times a
 * second while it starts and the processors are busy: Node's `fetch` takes several times as long.
 *
 * @param origin such as http://127.0.0.1:8080
 * @throws when no process listens there, or after the timeout
 */
export function probeReadiness(origin: string, { timeoutMs, token, ca }: ProbeOptions): Promise<ReadinessResponse> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      ...(ca !== undefined && { ca }),
    };
    const onResponse = (response: IncomingMessage): void => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => resolve({ ready: response.statusCode === 200, text: text.trim() }));
    };
    const get = origin.startsWith("https:") ? getHttps : getHttp;
    get(`${origin}/readyz`, options, onResponse).once("error", reject);
  });
}
