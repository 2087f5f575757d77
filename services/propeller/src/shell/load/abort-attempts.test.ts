import { fromBinary } from "@bufbuild/protobuf";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { expect, test } from "vitest";
import { abortAttempts } from "./abort-attempts.js";

async function published(options: { readonly uid?: string; readonly executionDir: string | undefined }): Promise<readonly TaskRequest[]> {
  const requests: TaskRequest[] = [];
  const bus = {
    publish: (_: string, data: Uint8Array) => {
      requests.push(fromBinary(TaskRequestSchema, data));
      return Promise.resolve();
    },
  };
  const { uid, executionDir } = options;
  const meta = { namespace: "p-d", name: "a1", ...(uid !== undefined && { uid }) };
  await abortAttempts({ bus, meta, taskTypes: ["one", "two"], reason: "edited", executionDir, now: 1 }, { shouldSend: () => true });
  return requests;
}

test("the request names the resource and the folder of its execution, once for each task type", async () => {
  const requests = await published({ uid: "u", executionDir: "s3://b/metadata/p-d-a1" });
  expect(requests).toHaveLength(2);
  const about = { desired: DesiredState.ABORT_ALL, workflowKey: "p-d/a1", abortReason: "edited", outputPrefix: "s3://b/metadata/p-d-a1" };
  expect(requests[0]).toMatchObject({ ...about, owner: { uid: "u" } });
});

test("the folder is empty where the labels name no execution, and a resource without a uid has no attempts", async () => {
  expect((await published({ uid: "u", executionDir: undefined }))[0]?.outputPrefix).toBe("");
  expect(await published({ executionDir: undefined })).toEqual([]);
});
