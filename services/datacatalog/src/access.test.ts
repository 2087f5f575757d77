import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { Code, createClient, createRpcServer, implement, openChannel } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogGuard } from "./access.js";
import { datacatalogConfigSchema } from "./config.js";

const AUDIENCE = "https://flyte.test";
let idp: TokenIssuer;
let endpoint = "";
const stops: (() => unknown)[] = [];
beforeAll(async () => {
  idp = await tokenIssuer({ audience: AUDIENCE });
  const roles = [
    { subject: "one", role: "engine", project: "p" },
    { subject: "all", role: "engine" },
    { subject: "person", role: "admin" },
  ];
  const auth = { mode: "required", providers: [{ issuer: idp.issuer, audience: [AUDIENCE] }], roles };
  const guard = catalogGuard(datacatalogConfigSchema.parse({ auth }).auth, () => new Date());
  const server = createRpcServer({
    logger: createLogger({ service: "test", level: "silent" }),
    services: [implement(DataCatalog, {})],
    guard,
  });
  guard.requireComplete(server);
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  endpoint = `127.0.0.1:${port}`;
  stops.push(
    () => server.drain({ deadlineMs: 100 }),
    () => idp.stop(),
  );
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Status codes of all calls of the catalog; UNIMPLEMENTED for a call that was admitted. */
async function codes(sub: string | undefined, project: string): Promise<Set<number>> {
  const metadata = (): Record<string, string> => (sub === undefined ? {} : { authorization: `Bearer ${idp.token({ sub })}` });
  const channel = openChannel({ endpoint, metadata });
  const client = createClient({ channel, service: DataCatalog }) as unknown as Record<string, (request: object) => Promise<unknown>>;
  const dataset = { project, domain: "d", name: "n" };
  const found = new Set<number>();
  for (const { localName } of DataCatalog.methods) {
    const about = {
      dataset: localName === "createDataset" ? { id: dataset } : dataset,
      artifact: { dataset },
      tag: { dataset },
      reservationId: { datasetId: dataset },
    };
    const skip = localName === "listDatasets" && sub === "one";
    if (!skip) await client[localName]?.(about).catch((error: { code: number }) => found.add(error.code));
  }
  channel.close();
  return found;
}

test("the catalog accepts engines only, each within the projects of its role", async () => {
  expect(await codes("all", "q")).toEqual(new Set([Code.UNIMPLEMENTED]));
  expect(await codes("one", "p")).toEqual(new Set([Code.UNIMPLEMENTED]));
  expect(await codes("one", "q")).toEqual(new Set([Code.PERMISSION_DENIED]));
  expect(await codes("person", "p")).toEqual(new Set([Code.PERMISSION_DENIED]));
  expect(await codes(undefined, "p")).toEqual(new Set([Code.UNAUTHENTICATED]));
});

test("beyond loopback, the catalog starts only with authentication or with its explicit omission", () => {
  const parse = (more: object) => datacatalogConfigSchema.safeParse({ server: { host: "0.0.0.0" }, ...more });
  expect(parse({}).error?.issues[0]?.path).toEqual(["server", "host"]);
  expect(parse({ auth: { mode: "required" } }).error?.issues[0]?.path).toEqual(["auth", "providers"]);
  expect(parse({ auth: { mode: "required", providers: [{ issuer: "https://idp.test" }] } }).success).toBe(true);
});
