import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Requests and bytes of a page and its workers. */
export interface Traffic {
  /** Requests other than those of the console's own files. */
  readonly requests: number;
  /** Bytes of the answers' bodies as transferred, that is compressed; of open streams so far. */
  readonly bytes: number;
}

/** HTTP proxy before admin. Browsers do not tell the bytes of a stream that is open. */
export interface CountingProxy {
  /** Address of the proxy, `host:port`. */
  readonly endpoint: string;
  /** Returns the traffic since the last call. */
  take(): Traffic;
  close(): void;
}

/** Path of the console's files, which a browser loads once. */
const FILES = "/console";

/** Answers a request in the place of admin; false for a request that is passed on. */
export type AnswerInstead = (incoming: IncomingMessage, answer: ServerResponse) => boolean;

/** @param admin address of admin, `host:port` */
export async function startCountingProxy(admin: string, answerInstead: AnswerInstead = () => false): Promise<CountingProxy> {
  let traffic = { requests: 0, bytes: 0 };
  const [host, port] = admin.split(":");
  const forward = (incoming: IncomingMessage, answer: ServerResponse): void => {
    if (answerInstead(incoming, answer)) return;
    const { url: path = "/", method, headers } = incoming;
    const isCounted = !path.startsWith(FILES);
    if (isCounted) traffic.requests++;
    // Admin serves its own names and origin only.
    const own = { ...headers, host: admin, ...(headers.origin !== undefined && { origin: `http://${admin}` }) };
    const outgoing = request({ host, port, path, ...(method && { method }), headers: own }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.on("data", (chunk: Buffer) => {
        if (isCounted) traffic.bytes += chunk.length;
      });
      response.pipe(answer);
    });
    outgoing.on("error", () => answer.destroy());
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    endpoint: `localhost:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = traffic;
      traffic = { requests: 0, bytes: 0 };
      return taken;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
