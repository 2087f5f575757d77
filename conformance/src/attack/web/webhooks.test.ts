import { createHmac } from "node:crypto";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TriggerService, WebhookScheme } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identifier, scope } from "../../api/valid-requests.js";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { minimumCost, MAX_REFUSAL_COST } from "../exhaustion/process-cost.fixture.js";
import { startVictim, type Victim } from "../victim.fixture.js";

// Posts forged, altered and replayed deliveries to triggers, the only route that accepts posts
// without a token.
const BODY = '{"a":7}';

let victim: Victim;
let attacker: Attacker;
const hooks = new Map<string, { readonly path: string; readonly secret: string }>();
beforeAll(async () => {
  victim = await startVictim({ triggers: { webhooks: { maxPerMinute: 100_000 } } });
  attacker = openAttacker(victim.admin.api);
  await victim.root.admin.updateLaunchPlan({ id: identifier(ResourceType.LAUNCH_PLAN), state: LaunchPlanState.ACTIVE });
  const triggers = victim.clientFor("root", TriggerService);
  for (const [name, scheme] of [
    ["standard", WebhookScheme.UNSPECIFIED],
    ["github", WebhookScheme.GITHUB],
  ] as const) {
    const { trigger, webhookSecret } = await triggers.createTrigger({
      trigger: {
        id: { ...scope, name },
        launchPlan: { ...scope, name: "known" },
        source: { case: "webhook", value: { scheme } },
        inputs: { a: { source: { case: "body", value: "/a" } } },
      },
    });
    hooks.set(name, { path: trigger?.webhookPath ?? "", secret: webhookSecret });
  }
});
afterAll(async () => {
  attacker?.close();
  await victim?.stop();
});

const hook = (name: string) => hooks.get(name) ?? { path: "", secret: "" };
const now = () => Math.floor(Date.now() / 1000);

/** Signs a text as Standard Webhooks specifies, by default with the trigger's own secret. */
function sign(text: string, secret = hook("standard").secret): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}

interface Posted {
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

async function post({ path = hook("standard").path, body = BODY, headers }: Posted): Promise<number> {
  return (await attacker.http({ method: "POST", path, body, headers: { "content-type": "application/json", ...headers } })).status;
}

function signed(messageId: string, { body = BODY, at = now() }: { readonly body?: string; readonly at?: number } = {}) {
  return { "webhook-id": messageId, "webhook-timestamp": String(at), "webhook-signature": sign(`${messageId}.${at}.${body}`) };
}

function signedAsGithub(delivery: string, body = BODY) {
  const signature = createHmac("sha256", hook("github").secret).update(body).digest("hex");
  return { "x-github-delivery": delivery, "x-github-event": "push", "x-hub-signature-256": `sha256=${signature}` };
}

test("a delivery with a valid signature starts an execution", async () => {
  expect(await post({ headers: signed("first") })).toBe(202);
  expect(await post({ path: hook("github").path, headers: signedAsGithub("first") })).toBe(202);
});

const validDelivery = () => signed("forged");
describe("forged deliveries", () => {
  test.each<[string, () => Posted]>([
    ["no signature", () => ({ headers: { "webhook-id": "m", "webhook-timestamp": String(now()) } })],
    ["an empty signature", () => ({ headers: { ...validDelivery(), "webhook-signature": "v1," } })],
    [
      "a signature of another version",
      () => ({ headers: { ...validDelivery(), "webhook-signature": validDelivery()["webhook-signature"].replace("v1", "v2") } }),
    ],
    ["a signature by another secret", () => ({ headers: { ...validDelivery(), "webhook-signature": sign("m", "whsec_AAAA") } })],
    ["a signature by an empty secret", () => ({ headers: { ...validDelivery(), "webhook-signature": sign("m", "whsec_") } })],
    ["ten thousand signatures", () => ({ headers: { ...validDelivery(), "webhook-signature": "v1,AAAA ".repeat(1_500) } })],
    ["another body", () => ({ headers: validDelivery(), body: '{"a":8}' })],
    ["a body with an additional blank", () => ({ headers: validDelivery(), body: `${BODY} ` })],
    ["another id", () => ({ headers: { ...validDelivery(), "webhook-id": "forged2" } })],
    ["another time", () => ({ headers: { ...validDelivery(), "webhook-timestamp": String(now() - 1) } })],
    ["a time in the past", () => ({ headers: signed("past", { at: now() - 3_600 }) })],
    ["a time in the future", () => ({ headers: signed("future", { at: now() + 3_600 }) })],
    ["a time that is not a number", () => ({ headers: { ...validDelivery(), "webhook-timestamp": "NaN" } })],
    ["a negative time", () => ({ headers: { ...validDelivery(), "webhook-timestamp": "-1" } })],
    ["a long time", () => ({ headers: { ...validDelivery(), "webhook-timestamp": "9".repeat(1_000) } })],
    ["no id", () => ({ headers: { "webhook-timestamp": String(now()), "webhook-signature": sign(`.${now()}.${BODY}`) } })],
    ["a long id", () => ({ headers: signed("i".repeat(5_000)) })],
    ["a blank in the id", () => ({ headers: signed("a b") })],
    ["an id with dots, whose boundary could move", () => ({ headers: signed("a.1") })],
    ["the signature of GitHub's scheme", () => ({ headers: signedAsGithub("d") })],
    ["the standard signature at a GitHub trigger", () => ({ path: hook("github").path, headers: validDelivery() })],
    ["a GitHub signature of another body", () => ({ path: hook("github").path, headers: signedAsGithub("d2"), body: '{"a":8}' })],
    [
      "a GitHub signature by SHA-1",
      () => ({
        path: hook("github").path,
        headers: { ...signedAsGithub("d3"), "x-hub-signature-256": "", "x-hub-signature": `sha1=${"0".repeat(40)}` },
      }),
    ],
    ["a trigger that does not exist", () => ({ path: hook("standard").path.replace("/standard", "/missing"), headers: validDelivery() })],
    ["a trigger of another project", () => ({ path: hook("standard").path.replace("flytesnacks", "other"), headers: validDelivery() })],
    ["a path with ..", () => ({ path: `${hook("standard").path}/../../other/x`, headers: validDelivery() })],
    ["a name with a NUL", () => ({ path: hook("standard").path.replace("/standard", "/%00"), headers: validDelivery() })],
    ["a name with a quote", () => ({ path: hook("standard").path.replace("/standard", "/'%20OR%20'1'='1"), headers: validDelivery() })],
    ["a name that is a wildcard", () => ({ path: hook("standard").path.replace("/standard", "/%25"), headers: validDelivery() })],
    ["a token instead of a signature", () => ({ headers: { authorization: `Bearer ${victim.tokenOf("root")}` } })],
  ])("%s is refused", async (_, posted) => {
    expect([307, 401, 404, 431]).toContain(await post(posted()));
  });
});

test.each(["standard", "github"])("a replayed %s delivery starts no second execution", async (name) => {
  const headers = name === "github" ? signedAsGithub("replayed") : signed("replayed");
  const body = BODY;
  const first = await post({ path: hook(name).path, headers, body });
  expect(first).toBeLessThan(300);
  for (let count = 0; count < 5; count++) expect(await post({ path: hook(name).path, headers, body })).toBe(200);
});

test("a GitHub delivery replayed under another id starts no second execution", async () => {
  const body = '{"a":11}';
  expect(await post({ path: hook("github").path, headers: signedAsGithub("original", body), body })).toBe(202);
  expect(await post({ path: hook("github").path, headers: signedAsGithub("copied", body), body })).not.toBe(202);
});

describe("bodies without a valid signature", () => {
  test.each<[string, string | Uint8Array]>([
    ["32 MiB", Buffer.alloc(32 * 1024 * 1024, "a")],
    ["a form", "a=1&".repeat(500_000)],
    ["JSON within JSON", "[".repeat(1_000_000)],
  ])("%s costs little", async (_, body) => {
    let status = 0;
    const cost = await minimumCost(victim.admin.pid, MAX_REFUSAL_COST, async () => {
      status = await post({ body, headers: { ...validDelivery(), "content-type": "application/x-www-form-urlencoded" } });
    });
    expect([0, 401, 413]).toContain(status);
    expect(cost.processorMs).toBeLessThanOrEqual(MAX_REFUSAL_COST.processorMs);
    expect(cost.peakBytes).toBeLessThanOrEqual(MAX_REFUSAL_COST.peakBytes);
  });
});
