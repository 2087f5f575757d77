import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Bus } from "@flyte-ts/messaging";
import { createClient, type ServiceClient } from "@flyte-ts/rpc";
import { workOnce } from "../../platform/work-queue/work-once.fixture.js";
import type { AdminConfig } from "../../config.js";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { processCompletions } from "../completion/process-completions.js";
import { id, integer, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { type FireDeps, createFiringHandler } from "./fire.js";

export interface TriggerWorld {
  readonly database: AdminDatabase;
  readonly served: ServedAdmin;
  readonly triggers: ServiceClient<typeof TriggerService>;
  /** Starts an execution of a launch plan. */
  run(launchPlan: string, name: string): Promise<void>;
  /** Reports the end of an execution. */
  end(name: string, phase: WorkflowExecution_Phase, outputs?: Record<string, MessageInitShape<typeof LiteralSchema>>): Promise<void>;
  /** Runs the background work once: completions and firings. */
  settle(changes?: Partial<FireDeps>): Promise<void>;
  /** Firings of a trigger, oldest first: cause, state, reason. */
  fired(name?: string): Promise<string[]>;
  /** Names, launch plans, modes and principals of the executions that triggers started. */
  started(): Promise<{ readonly name: string; readonly launchPlan: string; readonly mode: number; readonly principal: string }[]>;
  /** Makes pending firings due now. */
  due(): Promise<void>;
  stop(): Promise<void>;
}

/** An admin with workflow `w` and an injected clock. */
export async function triggerWorld(config: Partial<AdminConfig> = {}, clock: () => Date = () => new Date()): Promise<TriggerWorld> {
  const database = await adminDatabase();
  const bus = { publishEphemeral: () => undefined } as unknown as Bus;
  const parsed = adminConfigSchema.parse({ projects: ["flytesnacks", "other"], ...config });
  const served = await serveAdmin({ db: database.db, bus, clock, config: parsed });
  if (parsed.auth.mode === "open") await registerWorkflow(served.admin);
  const triggers = createClient({ channel: served.channel, service: TriggerService });
  const fireDeps: FireDeps = { ...served.deps, bindings: undefined, outcomes: { inc: () => undefined } };
  return {
    database,
    served,
    triggers,
    run: async (launchPlan, name) => {
      const spec = { launchPlan: id(ResourceType.LAUNCH_PLAN, launchPlan), metadata: {} };
      await served.admin.createExecution({ ...scope, name, spec, inputs: { literals: { x: integer(1n) } } });
    },
    end: async (name, phase, outputs = {}) => {
      const results = {
        [WorkflowExecution_Phase.SUCCEEDED]: { case: "outputData" as const, value: { literals: outputs } },
        [WorkflowExecution_Phase.FAILED]: { case: "error" as const, value: { code: "E", message: "broken" } },
      } as const;
      const outputResult = results[phase as keyof typeof results];
      const event = { executionId: { ...scope, name }, phase, occurredAt: timestampFromDate(new Date()), producerId: "propeller" };
      await served.admin.createWorkflowEvent({ event: { ...event, ...(outputResult && { outputResult }) } });
    },
    settle: async (changes = {}) => {
      await processCompletions(served.deps, 100);
      await workOnce(createFiringHandler({ ...fireDeps, ...changes }), 100);
    },
    fired: async (name = "") => {
      const { rows } = await database.db.query<{ text: string }>({
        text: `SELECT concat_ws(' ', f.source_name || f.delivery_id, f.state, nullif(f.reason, '')) AS text
          FROM trigger_firings f JOIN triggers t ON t.id = f.trigger_id WHERE $1 IN ('', t.name) ORDER BY f.id`,
        values: [name],
      });
      return rows.map(({ text }) => text);
    },
    started: async () => {
      const { rows } = await database.db.query<{ name: string; launchPlan: string; mode: number; principal: string }>({
        text: `SELECT execution_name AS name, launch_plan_name AS "launchPlan", mode, principal FROM executions
          WHERE execution_name ~ '^t[0-9a-f]{31}$' ORDER BY id`,
      });
      return rows;
    },
    due: async () => void (await database.db.query({ text: "UPDATE trigger_firings SET available_at = now()" })),
    stop: async () => {
      await served.stop();
      await database.stop();
    },
  };
}
