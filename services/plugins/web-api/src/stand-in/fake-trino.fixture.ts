import { Faults } from "./faults.fixture.js";

interface Query {
  readonly id: string;
  readonly statement: string;
  readonly headers: Headers;
  /** True from the first reading of an answer on. */
  started: boolean;
  token: number;
  state: "QUEUED" | "RUNNING" | "FINISHED" | "FAILED";
  error?: { message: string; errorName: string; errorType: string } | undefined;
}

/**
 * Trino's statement protocol in memory: a statement runs from the first reading on, and only the
 * last answer and the next can be read. DROP statements end at once.
 */
export class FakeTrino {
  readonly queries: Query[] = [];
  readonly faults = new Faults();
  readonly fetch = ((url: URL, init: RequestInit) => this.faults.apply(() => this.#respond(url, init))) as unknown as typeof fetch;

  finish(error?: Query["error"]): void {
    for (const query of this.queries) if (isOpen(query)) Object.assign(query, { state: error ? "FAILED" : "FINISHED", error });
  }

  startsOf(text: string): number {
    return this.queries.filter(({ statement, started }) => started && statement.includes(text)).length;
  }

  get running(): number {
    return this.queries.filter((query) => query.started && isOpen(query)).length;
  }

  #respond({ pathname }: URL, { method, body, headers }: RequestInit): Response {
    if (pathname === "/v1/statement") return this.#submit(body as string, new Headers(headers as Record<string, string>));
    if (pathname === "/v1/query") return Response.json(this.queries.filter(({ started }) => started).map(listed));
    const [, kind, id, token] = /^\/v1\/(statement|query)\/(?:executing\/)?([^/]+)(?:\/(\d+))?$/.exec(pathname) ?? [];
    const query = this.queries.find((one) => one.id === id);
    if (query === undefined) return new Response("Query not found", { status: 404 });
    if (method === "DELETE") return cancel(query);
    if (kind === "query") return Response.json({ state: query.state });
    return follow(query, Number(token));
  }

  #submit(statement: string, headers: Headers): Response {
    const query: Query = { id: `q${this.queries.length}`, statement, headers, started: false, token: 0, state: "QUEUED" };
    this.queries.push(query);
    return Response.json(answer(query, 0));
  }
}

function listed({ id, headers }: Query): object {
  return { queryId: id, session: { source: headers.get("x-trino-source") } };
}

function follow(query: Query, token: number): Response {
  if (token !== query.token && token !== query.token + 1) return new Response("Gone", { status: 410 });
  query.token = token;
  query.started = true;
  if (query.statement.startsWith("DROP")) query.state = "FINISHED";
  else if (query.state === "QUEUED") query.state = "RUNNING";
  return Response.json(answer(query, token));
}

function cancel(query: Query): Response {
  const error = { message: "Query was canceled", errorName: "USER_CANCELED", errorType: "USER_ERROR" };
  if (isOpen(query)) Object.assign(query, { state: "FAILED", error });
  return new Response(null, { status: 204 });
}

function answer({ id, state, error }: Query, token: number): object {
  const base = { id, infoUri: `http://internal:8080/ui/query.html?${id}`, stats: { state } };
  if (error !== undefined) return { ...base, error };
  return state === "FINISHED" ? base : { ...base, nextUri: `http://internal:8080/v1/statement/executing/${id}/${token + 1}` };
}

function isOpen({ state }: Query): boolean {
  return state === "QUEUED" || state === "RUNNING";
}
