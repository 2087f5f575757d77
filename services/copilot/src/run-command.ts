import { access, writeFile } from "node:fs/promises";
import { type BlobStore } from "@flyte-ts/blobstore";
import type { Command, DownloadCommand, SidecarCommand } from "./command-line.js";
import { downloadInputs } from "./download/download-inputs.js";
import { errorDocument } from "./error-document.js";
import { CopilotError } from "./copilot-error.js";
import { type Blobs, retryingStore } from "./store/retrying-store.js";
import { uploadOutputs } from "./upload/upload-outputs.js";

export interface CopilotDependencies {
  readonly store: BlobStore;
  /** Resolves on SIGTERM: the task's containers have ended. */
  readonly terminated: Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Writes to the log. */
  readonly log: (text: string) => void;
}

const POLL_INTERVAL_MS = 20;
/** Part of the upload timeout reserved for reporting its failure. */
const ERROR_REPORT_SHARE = 0.1;

/**
 * Runs the command. Returns the exit status: 0 also for a failed upload that was reported, since
 * the error document then decides.
 */
export function runCommand(command: Command, dependencies: CopilotDependencies): Promise<number> {
  switch (command.name) {
    case "download":
      return runDownload(command, dependencies);
    case "sidecar":
      return runSidecar(command, dependencies);
  }
}

/** Status 1 keeps the task from starting without its inputs. */
async function runDownload(
  { inputs, outputPrefix, timeoutMs, awaitFile }: DownloadCommand,
  dependencies: CopilotDependencies,
): Promise<number> {
  const deadline = dependencies.now() + timeoutMs;
  const blobs = (deadline: number) => retryingStore(dependencies.store, { ...dependencies, deadline });
  try {
    if (inputs !== undefined) {
      await downloadInputs(inputs, { blobs: blobs(deadline - timeoutMs * ERROR_REPORT_SHARE), withFiles: inputs.withFiles });
      dependencies.log(`the inputs are in ${inputs.folder}`);
    }
    if (awaitFile !== undefined) await waitForFile(awaitFile, deadline, dependencies);
    return 0;
  } catch (error) {
    await reportError("InputDownloadFailed", error, { blobs: blobs(deadline), outputPrefix, parts: dependencies });
    return 1;
  }
}

async function runSidecar(command: SidecarCommand, dependencies: CopilotDependencies): Promise<number> {
  const { taskInterface, folder, timeoutMs, readyFile, outputPrefix } = command;
  if (readyFile !== undefined) await writeFile(readyFile, "");
  dependencies.log(`waiting for the task to end; its outputs are then read from ${folder}`);
  await dependencies.terminated;
  const deadline = dependencies.now() + timeoutMs;
  const blobs = (deadline: number) => retryingStore(dependencies.store, { ...dependencies, deadline });
  try {
    const variables = taskInterface.outputs;
    if (variables !== undefined) await uploadOutputs({ ...command, variables }, blobs(deadline - timeoutMs * ERROR_REPORT_SHARE));
    dependencies.log(`the outputs are at ${outputPrefix}`);
    return 0;
  } catch (error) {
    return (await reportError("OutputUploadFailed", error, { blobs: blobs(deadline), outputPrefix, parts: dependencies })) ? 0 : 1;
  }
}

/** Writes the error document for the plugin service. Returns false when that fails. */
async function reportError(
  code: string,
  error: unknown,
  { blobs, outputPrefix, parts: dependencies }: { blobs: Blobs; outputPrefix: string; parts: CopilotDependencies },
): Promise<boolean> {
  dependencies.log(`${code}: ${error instanceof Error ? error.message : String(error)}`);
  try {
    await blobs.put(blobs.join(outputPrefix, "error.pb"), errorDocument(code, error, new Date(dependencies.now())));
    return true;
  } catch (cause) {
    dependencies.log(`the error could not be written: ${cause instanceof Error ? cause.message : String(cause)}`);
    return false;
  }
}

async function waitForFile(file: string, deadline: number, { now, sleep }: CopilotDependencies): Promise<void> {
  const exists = () =>
    access(file).then(
      () => true,
      () => false,
    );
  while (!(await exists())) {
    if (now() > deadline) throw new CopilotError("SYSTEM", "the container that uploads the outputs has not started");
    await sleep(POLL_INTERVAL_MS);
  }
}
