import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { loadOffloaded } from "@flyte-ts/domain/literal";
import { ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import { RESOURCE_TYPES } from "../register/references.js";
import { registerProject } from "../register/register-project.js";
import { connectTo, refusal, ServerError } from "../register/server.js";
import { openAdminChannel } from "../watch/admin-channel.js";
import type { Target } from "./find-target.js";
import { InputFolder } from "./upload-inputs.js";
import { ChangeFormatter } from "../watch/format-changes.js";
import { clientsOf, watchExecution } from "../watch/watch-execution.js";

export interface RemoteRun {
  readonly project: Project;
  readonly bundle: LoadedBundle;
  readonly target: Target;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly version: string | undefined;
  /** Follow the execution and print its outputs. */
  readonly wait: boolean;
}

type Write = (text: string) => void;

/** Registers a project and starts an execution. Returns the exit status. */
export async function runRemote(run: RemoteRun, write: Write): Promise<number> {
  const client = connectTo(run.project.endpoint);
  try {
    const { version } = await registerProject(client, run, { version: run.version, activate: false });
    const name = await startExecution(client, run, version);
    write(`${name}\n`);
    return run.wait ? await followExecution(client, run, { name, write }) : 0;
  } finally {
    client.close();
  }
}

/** Starts an execution of a registered entity. Returns its name. */
export async function startExecution(
  client: FlyteClient,
  { project: scope, bundle, target, inputs }: RemoteRun,
  version: string,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-inputs-"));
  try {
    const sent = await InputFolder.open(client, scope);
    const { module, export: name } = target;
    const encoded = await bundle.host.call("encode", { module, export: name, inputs, folder, base: sent.base, cwd: process.cwd() });
    const literals = fromBinary(LiteralMapSchema, Buffer.from(encoded, "base64"));
    await sent.upload(folder);
    const { project, domain } = scope;
    // A workflow is started by the launch plan of its own name.
    const resourceType = target.kind === "task" ? RESOURCE_TYPES.task : RESOURCE_TYPES.launchplan;
    const { id } = await client.admin
      .createExecution({
        project,
        domain,
        spec: {
          launchPlan: { resourceType, project, domain, name: target.name, version },
          metadata: { mode: ExecutionMetadata_ExecutionMode.MANUAL },
        },
        inputs: literals,
      })
      .catch((error: unknown) => Promise.reject(refusal(target.name, error)));
    return id?.name ?? "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Following {
  /** Name of the execution. */
  readonly name: string;
  readonly write: Write;
  /** Ends the wait, not the execution. */
  readonly signal?: AbortSignal;
}

/** Prints the progress of an execution until it ends, and its outputs. Returns the exit status. */
export async function followExecution(
  client: FlyteClient,
  { project: scope, bundle, target }: Pick<RemoteRun, "project" | "bundle" | "target">,
  { name, write, signal }: Following,
): Promise<number> {
  const id = { project: scope.project, domain: scope.domain, name };
  const changes = new ChangeFormatter();
  const channel = openAdminChannel(scope.endpoint);
  try {
    for await (const message of watchExecution(clientsOf(channel), id, signal))
      for (const line of changes.lines(message)) write(`${line}\n`);
  } finally {
    channel.close();
  }
  if (changes.phase !== WorkflowExecution_Phase.SUCCEEDED) return 1;
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  if (fullOutputs === undefined) return 0;
  const loaded = await loadOffloaded(fullOutputs, (uri) => downloaded(client, uri));
  const outputs = Buffer.from(toBinary(LiteralMapSchema, loaded)).toString("base64");
  for (const line of await bundle.host.call("decode", { module: target.module, export: target.export, outputs })) write(`${line}\n`);
  return 0;
}

/** Reads an object of the blob store by a URL that the server signs. */
async function downloaded({ dataProxy }: FlyteClient, nativeUrl: string): Promise<Uint8Array> {
  const { signedUrl } = await dataProxy.createDownloadLocation({ nativeUrl });
  const response = await fetch(signedUrl);
  if (!response.ok) throw new ServerError(`the blob store refuses ${nativeUrl} with status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
