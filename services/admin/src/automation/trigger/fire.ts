import { create, fromBinary, type JsonValue } from "@bufbuild/protobuf";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { bindingsFor, describePermission, isGranted, type RoleBinding } from "@flyte-ts/auth";
import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { JsonLiteralError } from "@flyte-ts/domain/literal";
import { ExecutionCreateRequestSchema, ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Trigger } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { Counter } from "@flyte-ts/telemetry";
import { type QueueHandler, requeue } from "../../platform/index.js";
import { type CreateDeps, createExecution, executionQueries } from "../../executions/index.js";
import { triggerPermissions } from "../../identity/index.js";
import type { AutomationDeps } from "../deps.js";
import { findTarget } from "./find-target.js";
import { type ClaimedFiring, claimFirings, endFiring, FIRINGS } from "../store/firings.js";
import { type FiringSource, inputsOf } from "./inputs.js";
import { type StoredTrigger, storedTrigger } from "../store/triggers.js";

export type FireDeps = CreateDeps &
  Pick<AutomationDeps, "blobs" | "config"> & {
    /** Current role bindings; undefined without authentication. */
    readonly bindings: (() => Promise<readonly RoleBinding[]>) | undefined;
    readonly outcomes: Pick<Counter<"outcome">, "inc">;
  };

/** Permanent failure: no execution is started. */
class PermanentFiringError extends Error {
  override readonly name = "PermanentFiringError";
}

/** Lease duration, ms. When it expires, another worker may claim the firing. */
const LEASE_MS = 60_000;
const BACKOFF: Backoff = { initialMs: 500, maxMs: 60_000, jitter: 0.5 };
const MAX_ERROR_CHARACTERS = 4_000;
const PERMANENT_CODES: readonly Code[] = [
  Code.INVALID_ARGUMENT,
  Code.NOT_FOUND,
  Code.FAILED_PRECONDITION,
  Code.PERMISSION_DENIED,
  Code.OUT_OF_RANGE,
  Code.UNIMPLEMENTED,
];

/** Processes the firings that are due. */
export function createFiringHandler(deps: FireDeps): QueueHandler<ClaimedFiring> {
  return {
    table: FIRINGS,
    leaseMs: LEASE_MS,
    concurrency: 16,
    pollMs: 500,
    claim: (limit) => claimFirings(deps.db, limit, LEASE_MS),
    process: (firing) => fire(deps, firing),
    errorMessage: "firings cannot be processed now",
  };
}

async function fire(deps: FireDeps, firing: ClaimedFiring): Promise<void> {
  const { db, logger, outcomes } = deps;
  const { trigger, execution } = firing;
  const about = { trigger: textOf(trigger), execution: textOf(execution), attempts: firing.attempts };
  try {
    await start(deps, firing);
    await endFiring(db, firing.id, { state: "started", reason: "" });
    outcomes.inc({ outcome: "started" });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const delayMs = backoffDelay(BACKOFF, firing.attempts - 1, deps.random);
    const exhausted = firing.ageMs + delayMs > deps.config.triggers.giveUpAfterSeconds * 1000;
    const permanent = isPermanent(error);
    outcomes.inc({ outcome: permanent || exhausted ? "refused" : "failed" });
    logger.warn(
      { ...about, error: reason },
      permanent || exhausted ? "trigger firing failed for good" : "trigger could not start an execution; retrying",
    );
    if (permanent || exhausted) await endFiring(db, firing.id, { state: "refused", reason: permanent ? reason : `given up: ${reason}` });
    else await requeue(db, FIRINGS, { row: firing, delayMs, reason });
  }
}

const textOf = ({ project, domain, name }: { readonly project: string; readonly domain: string; readonly name: string }): string =>
  `${project}/${domain}/${name}`;

function isPermanent(error: unknown): boolean {
  if (error instanceof RpcError) return PERMANENT_CODES.includes(error.code);
  return [PermanentFiringError, JsonLiteralError, BlobTooLargeError, StoredMessageError].some((kind) => error instanceof kind);
}

/** Starts the trigger's launch plan. Idempotent: the execution name is the same. */
async function start(deps: FireDeps, firing: ClaimedFiring): Promise<void> {
  const { execution, source } = firing;
  const stored = storedTrigger(firing.trigger);
  const { trigger, owner } = stored;
  await requireRoles(deps, stored);
  const { launchPlan } = trigger;
  const target = launchPlan && (await findTarget(deps.db, launchPlan));
  if (target === undefined) throw new PermanentFiringError(`launch plan ${launchPlan?.name} has no active version`);
  const inputs = inputsOf(trigger.inputs, await loadFiringSource(deps, firing, trigger), target.launchPlan.closure?.expectedInputs);
  const request = create(ExecutionCreateRequestSchema, {
    ...execution,
    inputs,
    spec: {
      launchPlan: target.launchPlan.id,
      metadata: {
        mode: ExecutionMetadata_ExecutionMode.TRIGGER,
        ...(source.kind === "execution" && {
          referenceExecution: { project: source.project, domain: source.domain, name: source.name },
        }),
      },
    },
  });
  try {
    const { subject: principal, issuer, groups } = owner;
    await createExecution(deps, request, { principal, ...(principal !== "" && { launcher: { issuer, groups } }) });
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== Code.ALREADY_EXISTS) throw error;
    // ALREADY_EXISTS: either this execution was started before, or the launch plan's concurrency
    // limit is reached.
    if ((await executionQueries.findExecutionId(deps.db, execution)) === undefined)
      throw new PermanentFiringError(error.message, { cause: error });
  }
}

/** Checks the owner's roles again, which may have been revoked since the trigger's creation. */
async function requireRoles({ bindings }: FireDeps, { trigger, owner }: StoredTrigger): Promise<void> {
  if (bindings === undefined) return;
  const held = bindingsFor(await bindings(), owner);
  const lacking = triggerPermissions(trigger).find((permission) => !isGranted(held, permission));
  if (lacking === undefined) return;
  const principal =
    owner.subject === "" ? "the creator of the trigger is unknown" : `the trigger fires as ${JSON.stringify(owner.subject)}`;
  throw new PermanentFiringError(`${principal}: ${describePermission(lacking)}`);
}

async function loadFiringSource(deps: FireDeps, { source, at }: ClaimedFiring, trigger: Trigger): Promise<FiringSource> {
  if (source.kind === "webhook") {
    return { kind: "webhook", deliveryId: source.deliveryId, body: JSON.parse(Buffer.from(source.body).toString("utf8")) as JsonValue, at };
  }
  const row = await executionQueries.findExecutionResult(deps.db, source.rowId);
  if (row === undefined) throw new PermanentFiringError(`execution ${source.name} no longer exists`);
  const wantsOutputs = Object.values(trigger.inputs).some((input) => input.source.case === "output");
  const { project, domain, name } = source;
  return {
    kind: "execution",
    project,
    domain,
    name,
    phase: row.phase,
    error: row.error === null ? "" : fromBinary(ExecutionErrorSchema, row.error).message.slice(0, MAX_ERROR_CHARACTERS),
    outputs: wantsOutputs ? await outputsOf(deps, row) : create(LiteralMapSchema),
    at,
  };
}

async function outputsOf(
  { blobs, config }: FireDeps,
  { outputs, output_uri: uri, result }: executionQueries.ExecutionResultRow,
): Promise<LiteralMap> {
  if (result !== "outputs") return create(LiteralMapSchema);
  if (outputs !== null) return fromBinary(LiteralMapSchema, outputs);
  if (uri === "") return create(LiteralMapSchema);
  const maxBytes = config.remoteData.maxSizeInBytes;
  const stored = await readStored(blobs, { uri, schema: LiteralMapSchema, limits: maxBytes === 0 ? {} : { bytes: maxBytes } });
  if (stored === undefined) throw new PermanentFiringError(`the outputs are not at ${uri}`);
  return stored;
}
