import { access, writeFile } from "node:fs/promises";
import { type BlobStore } from "@flyte-ts/blobstore";
import type { Command, DownloadCommand, SidecarCommand } from "./command-line.js";
import { downloadInputs } from "./download/inputs.js";
import { errorDocument } from "./error-document.js";
import { CopilotFailure } from "./failure.js";
import { type Blobs, patientStore } from "./store/patient-store.js";
import { uploadOutputs } from "./upload/outputs.js";

export interface CopilotParts {
  readonly store: BlobStore;
  /** Resolves on SIGTERM: the task's containers have ended. */
  readonly terminated: Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Writes to the log. */
  readonly say: (text: string) => void;
}

const LOOK_MS = 20;
/** Part of the upload timeout reserved for reporting its failure. */
const FOR_THE_ERROR = 0.1;

/** Runs the command. Returns the exit status: 0 also for a failed upload that was reported, since the error document then decides. */
export function runCommand(command: Command, parts: CopilotParts): Promise<number> {
  switch (command.name) {
    case "download":
      return bring(command, parts);
    case "sidecar":
      return take(command, parts);
  }
}

/** Status 1 keeps the task from starting without its inputs. */
async function bring({ inputs, outputPrefix, timeoutMs, awaitFile }: DownloadCommand, parts: CopilotParts): Promise<number> {
  const deadline = parts.now() + timeoutMs;
  const blobs = (until: number) => patientStore(parts.store, { ...parts, until });
  try {
    if (inputs !== undefined) {
      await downloadInputs(inputs, { blobs: blobs(deadline - timeoutMs * FOR_THE_ERROR), withFiles: inputs.withFiles });
      parts.say(`the inputs are in ${inputs.folder}`);
    }
    if (awaitFile !== undefined) await appeared(awaitFile, deadline, parts);
    return 0;
  } catch (error) {
    await tell("InputDownloadFailed", error, { blobs: blobs(deadline), outputPrefix, parts });
    return 1;
  }
}

async function take(command: SidecarCommand, parts: CopilotParts): Promise<number> {
  const { iface, folder, timeoutMs, readyFile, outputPrefix } = command;
  if (readyFile !== undefined) await writeFile(readyFile, "");
  parts.say(`waiting for the task to end; its outputs are then read from ${folder}`);
  await parts.terminated;
  const deadline = parts.now() + timeoutMs;
  const blobs = (until: number) => patientStore(parts.store, { ...parts, until });
  try {
    const variables = iface.outputs;
    if (variables !== undefined) await uploadOutputs({ ...command, variables }, blobs(deadline - timeoutMs * FOR_THE_ERROR));
    parts.say(`the outputs are at ${outputPrefix}`);
    return 0;
  } catch (error) {
    return (await tell("OutputUploadFailed", error, { blobs: blobs(deadline), outputPrefix, parts })) ? 0 : 1;
  }
}

/** Writes the error document for the plugin service. Returns false when that fails. */
async function tell(
  code: string,
  error: unknown,
  { blobs, outputPrefix, parts }: { blobs: Blobs; outputPrefix: string; parts: CopilotParts },
): Promise<boolean> {
  parts.say(`${code}: ${error instanceof Error ? error.message : String(error)}`);
  try {
    await blobs.put(blobs.join(outputPrefix, "error.pb"), errorDocument(code, error, new Date(parts.now())));
    return true;
  } catch (cause) {
    parts.say(`the error could not be written: ${cause instanceof Error ? cause.message : String(cause)}`);
    return false;
  }
}

async function appeared(file: string, deadline: number, { now, sleep }: CopilotParts): Promise<void> {
  const isThere = () =>
    access(file).then(
      () => true,
      () => false,
    );
  while (!(await isThere())) {
    if (now() > deadline) throw new CopilotFailure("SYSTEM", "the container that takes the outputs has not started");
    await sleep(LOOK_MS);
  }
}
