import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: string | object;
}

/**
 * A server with scripted responses, taken from the documentation of the services. It covers cases
 * that no server in the tests produces.
 */
export interface ScriptedServer {
  readonly host: string;
  readonly url: string;
  readonly received: Received[];
  answer(request: Received): Answer;
  close(): void;
}

export async function scriptedServer(): Promise<ScriptedServer> {
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(parts).toString() };
      scripted.received.push(request);
      const { status, headers: more = {}, body = "" } = scripted.answer(request);
      const type = typeof body === "string" ? {} : { "content-type": "application/json" };
      outgoing.writeHead(status, { ...type, ...more }).end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const scripted: ScriptedServer = {
    host,
    url: `http://${host}`,
    received: [],
    answer: () => ({ status: 500 }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return scripted;
}
