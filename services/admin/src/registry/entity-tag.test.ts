import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { LaunchPlanSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { expect, test } from "vitest";
import { entityTags } from "./entity-tag.js";

const { getTask, getWorkflow, getLaunchPlan } = AdminService.method;
const id = { project: "p", domain: "d", name: "n", version: "v" };
const task = (changes: Partial<typeof id> = {}, createdMs = 1) =>
  create(TaskSchema, { id: { ...id, ...changes }, closure: { createdAt: timestampFromMs(createdMs) } });

test("tags of tasks and workflows differ by kind, identifier, time of creation and version of the program", () => {
  const tag = entityTags("1");
  const tags = [
    tag(getTask, task()),
    tag(getTask, task({ version: "w" })),
    tag(getTask, task({ project: "pd", domain: "" })),
    tag(getTask, task({}, 2)),
    entityTags("2")(getTask, task()),
    tag(getWorkflow, create(WorkflowSchema, { id, closure: { createdAt: timestampFromMs(1) } })),
  ];
  for (const each of tags) expect(each).toMatch(/^[\w-]{22}$/);
  expect(new Set(tags).size).toBe(tags.length);
  expect(tag(getTask, task())).toBe(tags[0]);
});

test("launch plans and incomplete entities have no tag", () => {
  const tag = entityTags("1");
  expect(tag(getLaunchPlan, create(LaunchPlanSchema, { id }))).toBeUndefined();
  expect(tag(getTask, create(TaskSchema, { id }))).toBeUndefined();
});
