import type { Page, Request } from "playwright-core";

/** Requests and bytes of a page and its workers. */
export interface Traffic {
  /** Requests other than those of the console's own files. */
  readonly requests: number;
  /** Bytes as transferred, that is compressed, of those that have ended. */
  readonly bytes: number;
}

/** Counts the requests of a page from now on. */
export function recordTraffic(page: Page): () => Promise<Traffic> {
  const requests: Request[] = [];
  const finished = new Set<Request>();
  page.on("request", (request) => {
    if (!new URL(request.url()).pathname.startsWith("/console")) requests.push(request);
  });
  page.on("requestfinished", (request) => finished.add(request));
  return async () => {
    let bytes = 0;
    for (const request of requests) if (finished.has(request)) bytes += (await request.sizes()).responseBodySize;
    return { requests: requests.length, bytes };
  };
}
