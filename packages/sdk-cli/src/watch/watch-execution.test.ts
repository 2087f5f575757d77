import { create } from "@bufbuild/protobuf";
import { Code, RpcError } from "@flyte-ts/client";
import { ExecutionSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { ChangeFormatter } from "./format-changes.js";
import { type WatchClients, watchExecution } from "./watch-execution.js";

type ErrorCode = ConstructorParameters<typeof RpcError>[0];

/** Answers of a server without streams: an execution that ends, with two pages of nodes. */
function serverWithoutStreams(code: ErrorCode, failures: readonly ErrorCode[] = []): WatchClients {
  let calls = 0;
  const pending = [...failures];
  const live = {
    // oxlint-disable-next-line require-yield
    watchExecution: async function* () {
      throw new RpcError(code, "unknown service flytets.admin.v1.LiveService");
    },
  };
  const admin = {
    getExecution: async () => {
      const failure = pending.shift();
      if (failure !== undefined) throw new RpcError(failure, "away");
      const phase = calls++ === 0 ? WorkflowExecution_Phase.RUNNING : WorkflowExecution_Phase.SUCCEEDED;
      return create(ExecutionSchema, { closure: { phase } });
    },
    listNodeExecutions: async ({ token }: { readonly token: string }) => {
      const id = { nodeId: token === "" ? "n0" : "n1" };
      const phase = calls === 1 ? NodeExecution_Phase.RUNNING : NodeExecution_Phase.SUCCEEDED;
      return create(NodeExecutionListSchema, { nodeExecutions: [{ id, closure: { phase } }], token: token === "" ? "next" : "" });
    },
  };
  return { live, admin } as unknown as WatchClients;
}

const id = { project: "p", domain: "d", name: "e1" };

async function linesOf(clients: WatchClients): Promise<readonly string[]> {
  const changes = new ChangeFormatter();
  const lines: string[] = [];
  for await (const message of watchExecution(clients, id)) lines.push(...changes.lines(message));
  return lines.map((line) => line.trim().replaceAll(/ +/g, " "));
}

const ALL = ["n0 RUNNING", "n1 RUNNING", "execution RUNNING", "n0 SUCCEEDED", "n1 SUCCEEDED", "execution SUCCEEDED"];

test("an execution is followed on a server without streams", async () => {
  expect(await linesOf(serverWithoutStreams(Code.UNIMPLEMENTED))).toEqual(ALL);
});

test("a server without streams that is away for a call is asked again", async () => {
  expect(await linesOf(serverWithoutStreams(Code.UNIMPLEMENTED, [Code.UNAVAILABLE]))).toEqual(ALL);
});

test("an execution that may not be seen is not asked for", async () => {
  await expect(linesOf(serverWithoutStreams(Code.PERMISSION_DENIED))).rejects.toMatchObject({ code: Code.PERMISSION_DENIED });
});
