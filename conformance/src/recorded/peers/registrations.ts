// Registers the TypeScript examples on this stack and on Go FlyteAdmin, which then replaces its
// admin, and compares the entities that both return:
//   node conformance/dist/recorded/peers/registrations.js --go-admin FOLDER
// With --endpoint it registers on a server that runs, and prints what that returns.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { toJson } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { LaunchPlanSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { startStack } from "../../stack/stack-fixture.js";
import { runCommand } from "../../typescript-runtime/project.js";
import { differences } from "../differences.js";
import { startGoAdmin } from "./go-admin.js";
import { copyExamplesForGo } from "./go-examples.js";

const VERSION = "registered";
const scope = { project: "flytesnacks", domain: "development" };
/** Keys of times, and of the state that a launch plan gets later. */
const TIMES = ["createdAt", "updatedAt", "created_at", "updated_at"];

const { values } = parseArgs({
  options: {
    "go-admin": { type: "string" },
    endpoint: { type: "string" },
  },
});

const folder = copyExamplesForGo();
try {
  if (values.endpoint !== undefined) process.stdout.write(`${JSON.stringify(await registered(values.endpoint), undefined, 1)}\n`);
  else if (values["go-admin"] !== undefined) process.exitCode = await compareWithGo(values["go-admin"]);
  else throw new Error("--go-admin FOLDER or --endpoint HOST:PORT is needed");
} finally {
  rmSync(folder, { recursive: true });
}

async function compareWithGo(programs: string): Promise<number> {
  const stack = await startStack();
  try {
    const endpoint = `localhost:${stack.api}`;
    const ours = await registered(endpoint);
    const peer = await startGoAdmin(stack, { programs, offloadsClosures: false });
    try {
      const theirs = await registered(endpoint);
      const found = differences(theirs, ours);
      for (const difference of found) process.stdout.write(`${JSON.stringify(difference)}\n`);
      process.stdout.write(`${Object.keys(theirs).length} entities, ${found.length} differences\n`);
      return found.length === 0 ? 0 : 1;
    } finally {
      await peer.stop();
    }
  } finally {
    await stack.stop();
  }
}

/** Registers the project. Returns what the server tells of each entity, without times. */
async function registered(endpoint: string): Promise<Readonly<Record<string, unknown>>> {
  const { status, stdout, stderr } = runCommand({ folder, endpoint }, ["register", "--version", VERSION]);
  process.stderr.write(`${stdout.trim().split("\n").at(-1)}\n`);
  if (status !== 0) throw new Error(`register ended with ${status}:\n${stderr}`);
  const client = createFlyteClient({ endpoint });
  try {
    return Object.fromEntries(await entitiesOf(client));
  } finally {
    client.close();
  }
}

async function entitiesOf({ admin }: FlyteClient): Promise<(readonly [string, unknown])[]> {
  const request = { id: scope, limit: 1_000, filters: `eq(version,${VERSION})` };
  const [{ tasks }, { workflows }, { launchPlans }] = await Promise.all([
    admin.listTasks(request),
    admin.listWorkflows(request),
    admin.listLaunchPlans(request),
  ]);
  const entities = [
    ...tasks.map(async ({ id }) => [`task ${id?.name}`, toJson(TaskSchema, await admin.getTask({ id: id! }))] as const),
    ...workflows.map(async ({ id }) => [`workflow ${id?.name}`, toJson(WorkflowSchema, await admin.getWorkflow({ id: id! }))] as const),
    ...launchPlans.map(
      async ({ id }) => [`launch plan ${id?.name}`, toJson(LaunchPlanSchema, await admin.getLaunchPlan({ id: id! }))] as const,
    ),
  ];
  const answers = await Promise.all(entities);
  return answers.map(([name, answer]) => [name, withoutTimes(answer)]);
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part: unknown) => (TIMES.includes(key) ? undefined : part)));
}
