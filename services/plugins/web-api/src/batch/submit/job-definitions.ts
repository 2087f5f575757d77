import { BoundedMap, SingleFlight } from "@flyte-ts/async";
import type { BatchCalls } from "../batch-calls.js";
import { definitionKey, type JobDefinition, type JobDefinitionSettings, registerInput } from "./job-definition.js";

const MAX_DEFINITIONS = 10_000;

/** Registers job definitions once per process, by image, role and platform. */
export class JobDefinitions {
  readonly #arns = new BoundedMap<string, string>(MAX_DEFINITIONS);
  readonly #registering = new SingleFlight<string>();

  constructor(
    private readonly calls: Pick<BatchCalls, "registerJobDefinition">,
    private readonly settings: JobDefinitionSettings,
  ) {}

  /** Returns the ARN of the definition. @throws ApiError */
  async arnOf(definition: JobDefinition): Promise<string> {
    const key = definitionKey(definition);
    const known = this.#arns.get(key);
    if (known !== undefined) return known;
    return this.#registering.run(key, async () => {
      const arn = await this.calls.registerJobDefinition(registerInput(definition, this.settings));
      this.#arns.set(key, arn);
      return arn;
    });
  }

  /** Forgets a definition that AWS no longer has. */
  forget(definition: JobDefinition): void {
    this.#arns.delete(definitionKey(definition));
  }
}
