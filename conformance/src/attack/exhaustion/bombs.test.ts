import type { DescMethod } from "@bufbuild/protobuf";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TriggerService, WebhookScheme } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { anyRequest, restCalls } from "@flyte-ts/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { identifier, scope } from "../../api/valid-requests.js";
import { type Attacker, openAttacker, type RawRequest } from "../attacker.fixture.js";
import { HEADER_BOMBS, JSON_BOMBS, MESSAGE_BOMBS, QUERY_BOMBS } from "./bombs.fixture.js";
import { excessOf } from "./process-cost.fixture.js";
import { METHODS, startVictim, type Victim } from "../victim.fixture.js";

// Sends requests that are small on the wire and large in memory or time to admin's decoders: to
// each method by gRPC and by each of its REST routes, without a token and with the least role. A
// refusal may cost no more than process-cost.fixture.ts allows.
let victim: Victim;
let attacker: Attacker;
let webhook: string;
beforeAll(async () => {
  victim = await startVictim({ triggers: { webhooks: { maxPerMinute: 100_000 } } });
  await victim.root.admin.updateLaunchPlan({ id: identifier(ResourceType.LAUNCH_PLAN), state: LaunchPlanState.ACTIVE });
  const { trigger } = await victim.clientFor("root", TriggerService).createTrigger({
    trigger: {
      id: { ...scope, name: "bombed" },
      launchPlan: { ...scope, name: "known" },
      source: { case: "webhook", value: { scheme: WebhookScheme.UNSPECIFIED } },
      inputs: { a: { source: { case: "body", value: "/a" } } },
    },
  });
  webhook = trigger?.webhookPath ?? "";
});
afterAll(() => victim?.stop());
// The server closes a connection that has sent too many broken streams; each test opens its own.
beforeEach(() => {
  attacker = openAttacker(victim.admin.api);
});
afterEach(() => attacker.close());

type Caller = "anonymous" | "viewer";
const CALLERS: readonly Caller[] = ["anonymous", "viewer"];
const headersOf = (caller: Caller): Record<string, string> =>
  caller === "anonymous" ? {} : { authorization: `Bearer ${victim.tokenOf(caller)}` };
const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

const status = async (request: RawRequest): Promise<number> => (await attacker.http(request)).status;

const BROKEN: readonly (string | number)[] = ["INTERNAL", "UNKNOWN", "DATA_LOSS", "CLOSED", 500, 0];

/**
 * Describes the faults of a refusal: no response, a server error, or more cost than a refusal may
 * have.
 */
async function describeFaults(...acts: readonly (() => Promise<string | number>)[]): Promise<string[]> {
  const faults: string[] = [];
  for (const act of acts) {
    let answer: string | number = "";
    const excess = await excessOf(victim.admin.pid, async () => {
      answer = await act();
    });
    faults.push(...excess, ...(BROKEN.includes(answer) ? [`answered with ${answer}`] : []));
  }
  return faults;
}

describe.each(Object.entries(MESSAGE_BOMBS))("gRPC: %s", (_, bomb) => {
  test.each(METHODS.map((method) => [pathOf(method)] as const))("%s", async (path) => {
    const acts = CALLERS.map((caller) => () => attacker.grpc({ path, ...bomb, headers: headersOf(caller) }));
    expect(await describeFaults(...acts)).toEqual([]);
  });
});

const ROUTES = METHODS.flatMap((method) => restCalls(method, anyRequest(method.input, scope)).map((call) => ({ ...call, rpc: method })));
const named = (routes: typeof ROUTES) => routes.map((route) => [`${pathOf(route.rpc)} at ${route.path.slice(0, 60)}`, route] as const);

/** Bombs that a REST body can carry too; REST never decompresses the others. */
const PLAIN_BOMBS = [
  "64 MiB of empty messages, packed",
  "60,000 bytes of unknown fields",
  "messages 20,000 levels deep",
  "groups 30,000 levels deep",
  "a length varint without end",
];

/** Request bodies as protobuf, and as JSON with the field names of the .proto files. */
const BODY_BOMBS: readonly (readonly [
  string,
  { readonly body: string | Uint8Array; readonly headers: Readonly<Record<string, string>> },
])[] = [
  ...Object.entries(JSON_BOMBS).map(([kind, body]) => [kind, { body, headers: { "content-type": "application/json" } }] as const),
  ...Object.entries(MESSAGE_BOMBS)
    .filter(([kind]) => PLAIN_BOMBS.includes(kind))
    .map(
      ([kind, { body, encoding }]) =>
        [
          `protobuf: ${kind}`,
          { body, headers: { "content-type": "application/octet-stream", ...(encoding && { "content-encoding": encoding }) } },
        ] as const,
    ),
];

describe.each(BODY_BOMBS)("body: %s", (_, { body, headers }) => {
  test.each(named(ROUTES.filter((route) => route.body !== undefined)))("%s", async (_name, { method, path }) => {
    const acts = CALLERS.map((caller) => () => status({ method, path, body, headers: { ...headers, ...headersOf(caller) } }));
    expect(await describeFaults(...acts)).toEqual([]);
  });
});

describe.each(Object.entries(QUERY_BOMBS))("query and form: %s", (_, query) => {
  test.each(named(ROUTES.filter((route) => route.body === undefined)))("%s", async (_name, { method, path }) => {
    const separator = path.includes("?") ? "&" : "?";
    const form = { method: "POST", path, body: query, type: { "content-type": "application/x-www-form-urlencoded" } };
    const acts = CALLERS.map((caller) => () => status({ method, path: `${path}${separator}${query}`, headers: headersOf(caller) }));
    expect(await describeFaults(...acts, () => status({ ...form, headers: { ...headersOf("viewer"), ...form.type } }))).toEqual([]);
  });
});

const HEADERED: readonly (readonly [string, string])[] = [
  ["GET", "/api/v1/projects"],
  ["POST", "/api/v1/tasks"],
  ["GET", "/healthcheck"],
  ["GET", "/config/v1/flyte_client"],
  ["GET", "/me"],
  ["GET", "/nowhere"],
  ["OPTIONS", "/api/v1/tasks"],
];

describe.each(Object.entries(HEADER_BOMBS))("headers: %s", (_, headers) => {
  test.each(HEADERED)("%s %s", async (method, path) => {
    const body = method === "POST" ? { body: "{}" } : {};
    const typed = { "content-type": "application/json" };
    // Headers beyond the limit end the connection before or after the response.
    const act = async () => (await status({ method, path, ...body, headers: { ...typed, ...headers } })) || 431;
    expect(await describeFaults(act)).toEqual([]);
  });
});

describe("a webhook, which accepts posts without a token", () => {
  const signed = { "webhook-id": "m", "webhook-timestamp": "1", "webhook-signature": `v1,${"A".repeat(44)}` };
  test.each([
    ...BODY_BOMBS,
    ["a megabyte of signatures", { body: "{}", headers: { "webhook-signature": "v1,AAAA ".repeat(1_800) } }] as const,
    ["an id of 14,000 characters", { body: "{}", headers: { "webhook-id": "i".repeat(14_000) } }] as const,
  ])("%s", async (_, { body, headers }) => {
    const act = () => status({ method: "POST", path: webhook, body, headers: { ...signed, ...headers } });
    expect(await describeFaults(act)).toEqual([]);
  });
});
