import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { create, createRegistry } from "@bufbuild/protobuf";
import { GetVersionResponseSchema } from "@flyte-ts/idl/flyteidl/admin/version_pb";
import { expect, test } from "vitest";
import { createCodecs } from "../json/codec.js";
import { sendJsonLines } from "./json-lines.js";

test("the connection of a client that does not read is closed", async () => {
  const message = create(GetVersionResponseSchema, { controlPlaneVersion: { Build: "x".repeat(65_536) } });
  const codec = createCodecs(createRegistry()).choose({ contentType: [], accept: [] }).response;
  const signal = new AbortController().signal;
  const answered = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => {
    const options = { response, codec, output: GetVersionResponseSchema, stallTimeoutMs: 50 };
    const sent = sendJsonLines(options, async (emit) => {
      for (;;) await emit(message, signal);
    });
    void sent.then(() => answered.resolve(response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    client.pause().write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    const response = await answered.promise;
    if (!response.closed) await once(response, "close");
    expect(response.writableFinished).toBe(false);
  } finally {
    client.destroy();
    server.close();
  }
});
