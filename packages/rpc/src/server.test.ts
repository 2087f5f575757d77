import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { GetDomainsResponseSchema, GetDomainRequestSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, expect, test } from "vitest";
import { createRpcServer, implement } from "./index.js";

const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  services: [
    implement(AdminService, {
      getDomains: () => ({ domains: [{ id: "development", name: "development" }] }),
      getTask: async () => {
        throw new Error("secret");
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
afterAll(async () => {
  client.close();
  await server.drain();
});

function call(method: string, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/flyteidl.service.AdminService/${method}`,
      (b: Buffer) => b,
      (b: Buffer) => b,
      Buffer.from(bytes),
      (error, response) => (error ? reject(error) : resolve(response as Buffer)),
    );
  });
}

test("answers, fails without leaking, names what does not decode", async () => {
  const b = await call("GetDomains", toBinary(GetDomainRequestSchema, create(GetDomainRequestSchema)));
  expect(
    b.equals(
      toBinary(GetDomainsResponseSchema, create(GetDomainsResponseSchema, { domains: [{ id: "development", name: "development" }] })),
    ),
  ).toBe(true);
  await expect(call("GetTask", new Uint8Array(0))).rejects.toMatchObject({ code: 13, details: "internal error" });
  await expect(call("GetTask", Buffer.from([0xff, 0xff]))).rejects.toMatchObject({ code: 3 });
  await expect(call("GetProject", Buffer.alloc(0))).rejects.toMatchObject({ code: 12 });
});
test("sniffs byte by byte", async () => {
  const socket = connect(port, "127.0.0.1");
  for (const c of "GET / HTTP/1.1\r\nHost: x\r\n\r\n") {
    socket.write(c);
    await new Promise((r) => setTimeout(r, 1));
  }
  const text = await new Promise<string>((r) => socket.once("data", (d) => r(d.toString())));
  expect(text).toContain("404");
  socket.destroy();
});
