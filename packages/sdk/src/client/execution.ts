import { create, fromBinary } from "@bufbuild/protobuf";
import { pathOf, resumeStream } from "@flyte-ts/client/browser";
import { SignalListSchema, SignalSetRequestSchema, SignalSetResponseSchema } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { endOf, type ExecutionEnd, hasEnded } from "../api/execution-end.js";
import type { ExecutionName, Executions } from "../api/executions.js";
import { jsonOf } from "../api/flyte-api.js";
import { waitForEnd, watchStates } from "../api/watch.js";
import { decodeOutputs, encodeInputs } from "../codec/interface-values.js";
import { typeOfLiteralType } from "../codec/literal-type-reader.js";
import type { Interface } from "../entity/definition.js";
import { ApiFiles } from "./api-files.js";
import { type Change, Changes, type ExecutionPhase, nameOfPhase } from "./change.js";
import { executionName } from "./execution-name.js";
import type { Execution, LogOptions, StopOptions, WaitOptions } from "./types.js";

/** How the outputs of an execution are read. */
export type InterfaceSource = () => Promise<Pick<Interface, "outputs" | "single">>;

/** An execution on a server. */
export class RemoteExecution implements Execution<unknown> {
  readonly #executions: Executions;
  readonly #interface: InterfaceSource;
  readonly project: string;
  readonly domain: string;
  readonly name: string;

  constructor(executions: Executions, { project, domain, name }: ExecutionName, source: InterfaceSource) {
    [this.#executions, this.#interface] = [executions, source];
    [this.project, this.domain, this.name] = [project, domain, name];
  }

  async url(): Promise<string> {
    return `${await this.#executions.api.origin()}/console/projects/${this.project}/domains/${this.domain}/executions/${this.name}`;
  }

  async phase(): Promise<ExecutionPhase> {
    const { closure } = await this.#executions.get(this);
    return nameOfPhase(WorkflowExecution_Phase, closure?.phase);
  }

  async *watch({ signal = new AbortController().signal }: StopOptions = {}): AsyncGenerator<Change, void> {
    const changes = new Changes();
    for await (const state of watchStates(this.#executions, this, { signal, withNodes: true })) yield* changes.of(state);
  }

  async wait({ timeoutMs, signal }: WaitOptions = {}): Promise<unknown> {
    const signals = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)].filter((each) => each !== undefined);
    return this.#outputsAt(await waitForEnd(this.#executions, this, AbortSignal.any(signals)));
  }

  async outputs(): Promise<unknown> {
    const execution = await this.#executions.get(this);
    if (!hasEnded(execution)) throw new Error(`${this.name} has not ended; wait() waits for its outputs`);
    return this.#outputsAt(await endOf(this.#executions, this, execution));
  }

  async #outputsAt({ failure }: ExecutionEnd): Promise<unknown> {
    if (failure !== undefined) throw failure;
    const [{ fullOutputs }, declared] = await Promise.all([this.#executions.data(this), this.#interface()]);
    return decodeOutputs(declared, fullOutputs ?? create(LiteralMapSchema), new ApiFiles(this.#executions.api, this));
  }

  abort(cause = "aborted by a program"): Promise<void> {
    return this.#executions.abort(this, cause);
  }

  async signal(name: string, value: unknown = true): Promise<void> {
    const { api } = this.#executions;
    const asked = await api.call(SignalListSchema, pathOf("api/v1/signals", this.project, this.domain, this.name), {
      query: { limit: 100 },
    });
    const found = asked.signals.find(({ id }) => id?.signalId === name);
    if (found?.type === undefined) throw new Error(`${this.name} does not wait for the signal ${name} now`);
    const files = new ApiFiles(api, this);
    const { literals } = await encodeInputs({ inputs: { [name]: typeOfLiteralType(found.type) } }, { [name]: value }, files);
    const id = { executionId: { project: this.project, domain: this.domain, name: this.name }, signalId: name };
    const body = jsonOf(SignalSetRequestSchema, { id, ...(literals[name] && { value: literals[name] }) });
    await api.call(SignalSetResponseSchema, "/api/v1/signals", { method: "POST", body });
  }

  async *logs(node: string, options: LogOptions = {}): AsyncGenerator<{ readonly time: string; readonly text: string }, void> {
    const { attempt, item, container, tailLines, follow = true, signal = new AbortController().signal } = options;
    const path = pathOf("api/v1/follow/log", this.project, this.domain, this.name, node);
    const { api } = this.#executions;
    async function* open(cursor: string) {
      const query = { attempt, item, container, tail_lines: tailLines, no_follow: !follow, cursor: cursor || undefined };
      for await (const bytes of api.stream(path, { query, signal })) {
        const message = fromBinary(FollowLogResponseSchema, bytes);
        yield { message, cursor: message.cursor };
      }
    }
    for await (const { lines } of resumeStream({ open, signal })) for (const { time, text } of lines) yield { time, text };
  }

  async relaunch(): Promise<RemoteExecution> {
    const name = executionName();
    await this.#executions.relaunch({ id: this.#id(), name });
    return new RemoteExecution(this.#executions, { ...this.#id(), name }, this.#interface);
  }

  async recover(): Promise<RemoteExecution> {
    const name = executionName();
    await this.#executions.recover({ id: this.#id(), name });
    return new RemoteExecution(this.#executions, { ...this.#id(), name }, this.#interface);
  }

  #id(): ExecutionName {
    return { project: this.project, domain: this.domain, name: this.name };
  }
}
