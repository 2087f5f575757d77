import { createHmac } from "node:crypto";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { FiringState, TriggerState, WebhookScheme } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { secretBytes, signatureHeaders } from "@flyte-ts/outbound";
import { Metrics } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { id, integer, registerLaunchPlan, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { createSecretDeriver } from "./secret.js";
import { type TriggerWorld, triggerWorld } from "./trigger.fixture.js";

let now = new Date("2026-11-21T20:00:00Z");
let world: TriggerWorld;
let replica: ServedAdmin;
let path: string;
let secret: string;
beforeAll(async () => {
  const webhooks = { toleranceSeconds: 300, maxBodyBytes: 2_000, maxPerMinute: 20 };
  world = await triggerWorld({ triggers: { webhooks } } as never, () => now);
  replica = await serveAdmin({ ...world.served.deps, metrics: new Metrics() });
  await registerLaunchPlan(world.served.admin, "target");
  await world.served.admin.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, "target"), state: LaunchPlanState.ACTIVE });
});
afterAll(async () => {
  await replica.stop();
  await world.stop();
});
beforeEach(async () => {
  await world.database.db.query({ text: "DELETE FROM triggers" });
  await world.database.db.query({ text: "DELETE FROM executions" });
  ({ path, secret } = await make(WebhookScheme.UNSPECIFIED));
});

const hook = { ...scope, name: "hook" };
async function make(scheme: WebhookScheme): Promise<{ path: string; secret: string }> {
  const { trigger, webhookSecret } = await world.triggers.createTrigger({
    trigger: {
      id: hook,
      launchPlan: { ...scope, name: "target" },
      source: { case: "webhook", value: { scheme } },
      inputs: { x: { source: { case: "body", value: "/data/x" } } },
    },
  });
  return { path: trigger?.webhookPath ?? "", secret: webhookSecret };
}

interface Sent {
  readonly id?: string;
  readonly body?: string;
  readonly at?: Date;
  readonly with?: string;
  readonly headers?: Record<string, string>;
  readonly to?: ServedAdmin;
  readonly path?: string;
}
async function send({ id: messageId = "d1", body = '{"data":{"x":7}}', at = now, with: used = secret, ...more }: Sent = {}) {
  const headers = signatureHeaders({ id: messageId, timestamp: Math.floor(at.getTime() / 1000), body }, [secretBytes(used)]);
  const { port } = more.to ?? world.served;
  const response = await fetch(`http://127.0.0.1:${port}${more.path ?? path}`, {
    method: "POST",
    body,
    headers: { ...headers, ...more.headers },
  });
  return { status: response.status, body: (await response.json()) as { started?: { name: string }; error?: string; repeated?: boolean } };
}

test("a signed webhook starts an execution with inputs from its body", async () => {
  expect(path).toBe("/api/v1/trigger_webhooks/flytesnacks/development/hook");
  const { status, body } = await send();
  expect(status).toBe(202);
  await world.settle();
  const [started] = await world.started();
  expect(started).toMatchObject({ name: body.started?.name, launchPlan: "target" });
  const { fullInputs } = await world.served.admin.getExecutionData({ id: { ...scope, name: started?.name ?? "" } });
  expect(fullInputs?.literals).toMatchObject({ x: integer(7n) });
  const { firings } = await world.triggers.listFirings({ ...scope });
  expect(firings).toMatchObject([{ state: FiringState.STARTED, depth: 1, cause: { case: "deliveryId", value: "d1" } }]);
  // The secret is shown once; later responses omit it.
  expect(
    JSON.stringify(await world.triggers.getTrigger({ id: hook }), (_, each: unknown) => (typeof each === "bigint" ? 0 : each)),
  ).not.toContain("whsec_");
});

test("repeated deliveries to several replicas cause one firing and one execution", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send({ to: i % 2 === 0 ? world.served : replica })));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
  expect(new Set(answers.map(({ body }) => body.started?.name)).size).toBe(1);
  await Promise.all([world.settle(), world.settle()]);
  expect(await send()).toMatchObject({ status: 200, body: { repeated: true } });
  await world.settle();
  expect(await world.fired()).toEqual(["d1 started"]);
  expect(await world.started()).toHaveLength(1);
  expect((await send({ id: "d2" })).status).toBe(202);
});

test.each<[string, () => Sent]>([
  ["another secret", () => ({ with: "whsec_MDEyMzQ1Njc4OWFiY2RlZg==" })],
  ["a changed body", () => ({ headers: { "webhook-signature": "v1,AAAA" } })],
  ["a changed id", () => ({ headers: { "webhook-id": "d9" } })],
  ["a changed time", () => ({ headers: { "webhook-timestamp": "1" } })],
  ["no time", () => ({ headers: { "webhook-timestamp": "" } })],
  ["an id of a thousand characters", () => ({ id: "d".repeat(1_000) })],
  [
    "the headers of another scheme",
    () => ({ headers: { "webhook-id": "", "x-github-delivery": "d1", "x-hub-signature-256": `sha256=${"0".repeat(64)}` } }),
  ],
  ["an unknown trigger", () => ({ path: path.replace("/hook", "/look") })],
  ["an invalid path", () => ({ path: `${path}/more` })],
  ["a path with a NUL", () => ({ path: path.replace("/hook", "/%00") })],
])("a delivery is refused: %s", async (_, sent) => {
  expect((await send(sent())).status).toBe(401);
  expect(await world.fired()).toEqual([]);
});

test("a delivery is refused without a signature before its body is read, and when it is too old, too new, too large, not JSON, paused or too frequent", async () => {
  const unsigned = await fetch(`http://127.0.0.1:${world.served.port}${path}`, { method: "POST", body: "x".repeat(1_000_000) }).catch(
    () => undefined,
  );
  expect(unsigned?.status ?? 401).toBe(401);
  expect((await fetch(`http://127.0.0.1:${world.served.port}${path}`)).status).toBe(405);
  for (const seconds of [-301, 301]) {
    const answer = await send({ at: new Date(now.getTime() + seconds * 1_000) });
    expect(answer).toMatchObject({ status: 401, body: { error: "the webhook's time is more than 300 s from the server's time" } });
  }
  expect((await send({ at: new Date(now.getTime() - 299_000), id: "old" })).status).toBe(202);
  expect((await send({ body: JSON.stringify({ data: { x: 1 }, more: "x".repeat(2_000) }) })).status).toBe(413);
  for (const body of ["", "{", "\u0000", `${"[".repeat(500)}${"]".repeat(500)}`]) expect((await send({ body })).status).toBe(400);
  await world.triggers.setTriggerState({ id: hook, state: TriggerState.PAUSED });
  expect((await send()).status).toBe(409);
  await world.triggers.setTriggerState({ id: hook, state: TriggerState.ACTIVE });
  for (let i = 1; i < 20; i++) expect((await send({ id: `n${i}` })).status).toBe(202);
  expect((await send({ id: "n20" })).status).toBe(429);
  // Repeated deliveries are accepted.
  expect((await send({ id: "n1" })).status).toBe(200);
});

test.each([
  ['{"data":{"x":"many"}}', "d1 refused input x: the value at /data/x must be an integer, found a text"],
  ['{"data":{}}', 'd1 refused input x: there is nothing at /data/x: "x" is not in an object'],
  ["[]", 'd1 refused input x: there is nothing at /data/x: "data" is not in a list'],
])("a body with an invalid value is refused with its path: %s", async (body, fired) => {
  expect((await send({ body })).status).toBe(202);
  await world.settle();
  expect(await world.fired()).toEqual([fired]);
  expect(await world.started()).toEqual([]);
});

test("a rotated secret replaces the previous one, which stays valid for a day", async () => {
  const rotated = await world.triggers.rotateTriggerSecret({ id: hook });
  expect(rotated.webhookSecret).not.toBe(secret);
  expect((await send({ id: "a" })).status).toBe(202);
  expect((await send({ id: "b", with: rotated.webhookSecret })).status).toBe(202);
  const then = now;
  now = new Date(now.getTime() + 86_400_001);
  try {
    expect((await send({ id: "c" })).status).toBe(401);
    expect((await send({ id: "d", with: rotated.webhookSecret })).status).toBe(202);
  } finally {
    now = then;
  }
});

test("GitHub deliveries are verified by their body's signature, which also identifies repeats", async () => {
  await world.triggers.deleteTrigger({ id: hook });
  const github = await make(WebhookScheme.GITHUB);
  const post = async (delivery: string, { body = '{"data":{"x":3}}', event = "push", key = github.secret } = {}) => {
    const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
    const headers = { "x-github-delivery": delivery, "x-hub-signature-256": signature, "x-github-event": event };
    return (await fetch(`http://127.0.0.1:${world.served.port}${github.path}`, { method: "POST", body, headers })).status;
  };
  expect(await post("p", { event: "ping" })).toBe(200);
  expect(await post("1")).toBe(202);
  expect(await post("1")).toBe(200);
  expect(await post("2", { key: secret })).toBe(401);
  // GitHub signs only the body: a replay with another id has no effect.
  expect(await post("3")).toBe(200);
  // A recreated trigger with the same name has another secret.
  expect(github.secret).not.toBe(secret);
  await world.settle();
  expect(await world.fired()).toEqual(["1 started"]);
});

test("an id with a dot is refused, because the signed text would be ambiguous", async () => {
  await world.triggers.deleteTrigger({ id: hook });
  const { path: made, secret: own } = await make(WebhookScheme.STANDARD);
  const seconds = Math.floor(now.getTime() / 1000);
  const body = `${seconds}.{}`;
  const shifted = { id: `d.${seconds}`, timestamp: seconds, body: "{}" };
  const { "webhook-signature": signature = "" } = signatureHeaders({ id: "d", timestamp: seconds, body }, [secretBytes(own)]);
  const headers = { "webhook-id": shifted.id, "webhook-timestamp": String(seconds), "webhook-signature": signature };
  const response = await fetch(`http://127.0.0.1:${world.served.port}${made}`, { method: "POST", body: shifted.body, headers });
  expect(response.status).toBe(401);
});

test("secrets derive from the configured key: equal in all replicas, different for each key, and short keys are refused", async () => {
  const trigger = { rowId: 1n, ...hook };
  const { db } = world.database;
  const [first, second] = [1, 2].map(() => createSecretDeriver({ db, key: undefined, env: {} }));
  expect(await first?.(trigger, 1)).toBe(await second?.(trigger, 1));
  const key = { env: "KEY" };
  const own = await createSecretDeriver({ db, key, env: { KEY: "k".repeat(32) } })(trigger, 1);
  expect(own).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(new Set([own, await first?.(trigger, 1), await first?.(trigger, 2), await first?.({ ...trigger, rowId: 2n }, 1)]).size).toBe(4);
  await expect(createSecretDeriver({ db, key, env: { KEY: "short" } })(trigger, 1)).rejects.toThrow("at least 32 bytes");
  await expect(createSecretDeriver({ db, key, env: {} })(trigger, 1)).rejects.toThrow("KEY is not set");
});
