import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DeliveryState, NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { executionRequest, scope } from "../../api/valid-requests.js";
import { startVictim, type Victim } from "../victim.fixture.js";

// Uses addresses of this machine as receivers of notifications (server-side request forgery).
// packages/outbound tests other private networks without connecting.
let victim: Victim;
let honeypot: Server;
let visits = 0;
beforeAll(async () => {
  honeypot = createServer((_, response) => {
    visits += 1;
    response.end();
  });
  honeypot.on("connection", () => (visits += 1));
  await new Promise<void>((resolve) => honeypot.listen(0, "127.0.0.1", resolve));
  victim = await startVictim({ notifications: { firstDelaySeconds: 1, giveUpAfterSeconds: 5 } });
});
afterAll(async () => {
  await victim?.stop();
  honeypot?.close();
});

const HOSTS = [
  "127.0.0.1",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.2",
  "127.255.255.254",
  "0.0.0.0",
  "0",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "hooks.slack.com@127.0.0.1",
  "127.0.0.1%23@hooks.slack.com",
  "①②⑦.0.0.1",
  "127。0。0。1",
];

/** Runs an execution that sends a notification to `address` when it ends. */
async function notify(name: string, address: string): Promise<void> {
  const type = { case: "slack" as const, value: { recipientsEmail: [address] } };
  const notifications = { notifications: [{ phases: [WorkflowExecution_Phase.SUCCEEDED], type }] };
  const request = executionRequest(name);
  const spec = { ...request.spec, notificationOverrides: { case: "notifications" as const, value: notifications } };
  await victim.root.admin.createExecution({ ...request, spec });
  await victim.clientFor("engine", AdminService).createWorkflowEvent({
    event: {
      executionId: { ...scope, name },
      phase: WorkflowExecution_Phase.SUCCEEDED,
      occurredAt: timestampFromDate(new Date()),
      outputResult: { case: "outputData", value: {} },
    },
  });
}

const ADDRESSES = HOSTS.flatMap((host, index) => [[`ssrf${index}s`, "https", host] as const, [`ssrf${index}`, "http", host] as const]);

test.each(ADDRESSES)("%s: %s://%s is never connected to", async (name, scheme, host) => {
  const { port } = honeypot.address() as AddressInfo;
  const refused = await notify(name, `${scheme}://${host}:${port}/x`).then(
    () => false,
    () => true,
  );
  const deliveries = victim.clientFor("root", NotificationService);
  const outcome = async () => {
    if (refused) return ["refused"];
    return (await deliveries.listDeliveries({ ...scope, executionName: name })).deliveries.map(({ state }) => DeliveryState[state]);
  };
  await expect.poll(outcome, { timeout: 60_000 }).toEqual([refused ? "refused" : "GIVEN_UP"]);
  expect(visits).toBe(0);
});
