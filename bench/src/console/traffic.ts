import type { CDPSession } from "playwright-core";

/** Requests and bytes of a page. */
export interface Traffic {
  /** Requests other than those of the console's own files. */
  readonly requests: readonly string[];
  /** Bytes as transferred, that is compressed, of these requests. */
  readonly bytes: number;
}

/** Counts the requests of a page from now on. */
export async function recordTraffic(session: CDPSession): Promise<() => Traffic> {
  const paths = new Map<string, string>();
  let bytes = 0;
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/console")) paths.set(requestId, pathname);
  });
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    if (paths.has(requestId)) bytes += encodedDataLength;
  });
  return () => ({ requests: [...paths.values()], bytes });
}
