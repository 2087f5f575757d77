import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface ScriptedS3 {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** Answers that the server gives in order; the last one is given from then on. */
  answers: ((response: ServerResponse, request: ReceivedRequest) => void)[];
  close(): void;
}

/** A server that answers as scripted: conditions that no server of the tests produces. */
export async function scriptedS3(): Promise<ScriptedS3> {
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(pieces).toString() };
      scripted.received.push(request);
      const answer = scripted.answers.length > 1 ? scripted.answers.shift() : scripted.answers[0];
      answer?.(response, request);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const scripted: ScriptedS3 = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answers: [],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return scripted;
}
