import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface ApiRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** JSON of the body; an empty object for other bodies. Each API knows its types. */
  readonly body: object;
}

export interface ApiAnswer {
  readonly status?: number;
  readonly body: object;
}

/** Undefined: the path belongs to another API. */
export type Api = (request: ApiRequest) => ApiAnswer | undefined;

export interface StandInServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves APIs on the loopback address; the first that knows a path answers it. */
export async function serveApis(apis: readonly Api[], tls?: { readonly key: string; readonly cert: string }): Promise<StandInServer> {
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void answer(apis, request, response);
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(apis: readonly Api[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? "/", "http://stand-in");
  const parsed = {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: parseBody(chunks),
  };
  const known = apis.reduce<ApiAnswer | undefined>((found, api) => found ?? api(parsed), undefined);
  const { status = 200, body } = known ?? { status: 404, body: { message: `no API has ${parsed.method} ${parsed.path}` } };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function parseBody(chunks: readonly Buffer[]): object {
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as object;
  } catch {
    return {};
  }
}
