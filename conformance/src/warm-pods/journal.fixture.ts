import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts and ends of attempts, which they report themselves. */
export interface Journal {
  readonly url: string;
  /** Number of lines `start` or `end` of an attempt. */
  count(what: "start" | "end", execution: string, attempt: number, place: string): number;
  close(): Promise<void>;
}

/** Listens where pods reach it. */
export async function startJournal(host: string): Promise<Journal> {
  const lines: string[] = [];
  const server = createServer((request, response) => {
    lines.push((request.url ?? "").slice(1));
    response.end("kept");
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    count: (...parts) => lines.filter((line) => line === parts.join("/")).length,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}
