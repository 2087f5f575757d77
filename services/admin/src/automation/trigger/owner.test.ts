import { randomUUID } from "node:crypto";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AuditService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { TriggerService, TriggerState } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { Trigger, TriggerSchema } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { secretBytes, signatureHeaders } from "@flyte-ts/outbound";
import { type CallOptions, Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBindings } from "../../identity/access/bindings.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type TriggerWorld, triggerWorld } from "./trigger.fixture.js";

const INT = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
const REQUIRED = { case: "required" as const, value: true };

let world: TriggerWorld;
let idp: TokenIssuer;
beforeAll(async () => {
  idp = await tokenIssuer();
  const roles = [
    { subject: "root", role: "admin" },
    { group: "makers", role: "contributor", ...scope },
    { subject: "bob", role: "contributor", ...scope },
    { subject: "runner", role: "runner", ...scope },
    { subject: "viewer-there", role: "contributor", ...scope },
    { subject: "viewer-there", role: "viewer", project: "other" },
    { subject: "runner-there", role: "contributor", ...scope },
    { subject: "runner-there", role: "runner", project: "other" },
  ];
  const auth = { mode: "required", publicUrl: "https://flyte.test", providers: [{ issuer: idp.issuer }], roles };
  world = await triggerWorld({ auth } as never);
  const root = as(AdminService, "root");
  await registerWorkflow(root);
  await registerLaunchPlan(root, "target");
  await root.updateLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, "target"), state: LaunchPlanState.ACTIVE });
  const there = { ...id(ResourceType.LAUNCH_PLAN, "there"), project: "other" };
  await root.createLaunchPlan({
    id: there,
    spec: { workflowId: id(ResourceType.WORKFLOW, "w"), defaultInputs: { parameters: { x: { var: { type: INT }, behavior: REQUIRED } } } },
  });
  await root.updateLaunchPlan({ id: there, state: LaunchPlanState.ACTIVE });
});
afterAll(async () => {
  await world.stop();
  await idp.stop();
});

/** Creates a client whose calls carry a token of the subject. */
function as<Service extends DescService>(service: Service, sub: string, groups: string[] = []): ServiceClient<Service> {
  const client = createClient({ channel: world.served.channel, service }) as Record<
    string,
    (request: unknown, options?: CallOptions) => unknown
  >;
  const metadata = { authorization: `Bearer ${idp.token({ sub, groups })}` };
  return new Proxy(client, {
    get: (target, name) => (request: unknown) => target[String(name)]?.(request, { metadata }),
  }) as unknown as ServiceClient<Service>;
}

type Init = Omit<MessageInitShape<typeof TriggerSchema>, "$typeName">;
const trigger = (name: string, changes: Init = {}): Init => ({
  id: { ...scope, name },
  launchPlan: { ...scope, name: "target" },
  source: { case: "webhook", value: {} },
  inputs: { x: { source: { case: "literal", value: integer(1n) } } },
  ...changes,
});
const make = (who: string, changes: Init = {}) => as(TriggerService, who).createTrigger({ trigger: trigger("t", changes) });

test.each<[string, string, Init, string]>([
  ["a caller with role runner only", "runner", {}, "role contributor is needed"],
  [
    "a caller without role runner in the target project",
    "viewer-there",
    { launchPlan: { project: "other", domain: "development", name: "x" } },
    'role runner is needed in project "other"',
  ],
  [
    "a caller without role viewer in the source project",
    "bob",
    { source: { case: "execution", value: { project: "other" } } },
    'role viewer is needed in project "other"',
  ],
])("a trigger is refused for %s", async (_, who, changes, message) => {
  await expect(make(who, changes)).rejects.toMatchObject({
    code: Code.PERMISSION_DENIED,
    message: expect.stringContaining(message) as unknown,
  });
});

const named = (name: string) => ({ id: { ...scope, name } });
const startsThere = { launchPlan: { project: "other", domain: "development", name: "there" } } satisfies Init;

test.each<[string, (triggers: ServiceClient<typeof TriggerService>, name: string) => Promise<unknown>]>([
  ["rotate the secret of", (triggers, name) => triggers.rotateTriggerSecret(named(name))],
  ["resume", (triggers, name) => triggers.setTriggerState({ ...named(name), state: TriggerState.ACTIVE })],
])("a contributor without role runner in the target project may not %s a trigger", async (what, act) => {
  const name = what.split(" ")[0] ?? "";
  const owner = as(TriggerService, "runner-there");
  await owner.createTrigger({ trigger: trigger(name, startsThere) });
  const bob = as(TriggerService, "bob");
  await bob.setTriggerState({ ...named(name), state: TriggerState.PAUSED });
  await expect(act(bob, name)).rejects.toMatchObject({
    code: Code.PERMISSION_DENIED,
    message: expect.stringMatching(/^"bob" may not call .*TriggerService\/.*: role runner is needed in project "other"/) as unknown,
  });
  expect(await owner.getTrigger(named(name))).toMatchObject({ state: TriggerState.PAUSED });
  await act(owner, name);
});

test("a secret stops with an update by another owner or for another project, which returns a new one", async () => {
  const made = await as(TriggerService, "runner-there").createTrigger({ trigger: trigger("moved") });
  const status = async (secret: string) => (await post(made.trigger, { secret, deliveryId: randomUUID() })).status;
  const update = async (who: string, changes: Init = {}) =>
    (await as(TriggerService, who).updateTrigger({ trigger: trigger("moved", changes) })).webhookSecret;
  expect(await update("runner-there", { description: "the same owner and project" })).toBe("");
  expect(await status(made.webhookSecret)).toBe(202);
  const moved = await update("runner-there", startsThere);
  expect([await status(made.webhookSecret), await status(moved)]).toEqual([401, 202]);
  const owned = await update("root", startsThere);
  expect([await status(moved), await status(owned)]).toEqual([401, 202]);
  // Rotation keeps the previous secret of the same owner only.
  const { webhookSecret: rotated } = await as(TriggerService, "root").rotateTriggerSecret(named("moved"));
  expect([await status(moved), await status(owned), await status(rotated)]).toEqual([401, 202, 202]);
  const back = await update("bob");
  expect([await status(owned), await status(rotated), await status(back)]).toEqual([401, 401, 202]);
  // Its firings wait, and other tests count what is started.
  await as(TriggerService, "root").deleteTrigger(named("moved"));
});

async function post(made: Trigger | undefined, { secret, deliveryId }: { readonly secret: string; readonly deliveryId: string }) {
  const body = "{}";
  const signed = signatureHeaders({ id: deliveryId, timestamp: Math.floor(Date.now() / 1000), body }, [secretBytes(secret)]);
  return fetch(`http://127.0.0.1:${world.served.port}${made?.webhookPath}`, { method: "POST", body, headers: signed });
}

test("a trigger fires with the current roles of its owner; an update changes the owner, a pause does not", async () => {
  const made = await as(TriggerService, "ann", ["makers"]).createTrigger({ trigger: trigger("owned") });
  expect(made.trigger?.owner).toBe("ann");
  let secret = made.webhookSecret;
  const { db, config, clock, logger } = world.served.deps;
  const fire = async (deliveryId: string, auth: typeof config.auth = config.auth) => {
    // The sender has no token: its signature suffices.
    expect((await post(made.trigger, { secret, deliveryId })).status).toBe(202);
    await world.settle({ bindings: createBindings({ db, auth, clock, logger }).current });
    return (await world.fired("owned")).at(-1);
  };
  expect(await fire("1")).toBe("1 started");
  const withoutGroup = { ...config.auth, roles: config.auth.roles.filter(({ group }) => group === undefined) };
  expect(await fire("2", withoutGroup)).toMatch(/^2 refused the trigger fires as "ann": role runner is needed/);
  const otherUser = as(TriggerService, "bob");
  await otherUser.setTriggerState({ id: { ...scope, name: "owned" }, state: TriggerState.ACTIVE });
  expect((await otherUser.getTrigger({ id: { ...scope, name: "owned" } })).owner).toBe("ann");
  ({ webhookSecret: secret } = await otherUser.updateTrigger({ trigger: trigger("owned", { description: "mine" }) }));
  expect(await fire("3", withoutGroup)).toBe("3 started");
  expect((await world.started()).map(({ principal }) => principal)).toEqual(["ann", "bob"]);
  // Children and dynamic tasks of the executions have the rights of the owner.
  const { rows } = await db.query({ text: "SELECT launch -> 'launcher' AS launcher FROM executions ORDER BY id" });
  expect(rows).toEqual([{ groups: ["makers"] }, { groups: [] }].map(({ groups }) => ({ launcher: { issuer: idp.issuer, groups } })));
  // The audit log contains no secrets.
  const { entries } = await as(AuditService, "root").listAuditEntries({ ...scope });
  expect(entries.map(({ subject, method }) => `${subject} ${method.split("/")[1]}`)).toContain("ann CreateTrigger");
  expect(JSON.stringify(entries.map(({ identifiers }) => identifiers))).not.toContain("whsec_");
});
