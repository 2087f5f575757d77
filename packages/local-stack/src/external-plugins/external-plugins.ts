import { readFileSync } from "node:fs";
import { replaceFile } from "@flyte-ts/host";
import { defineService, type ServiceManifest } from "@flyte-ts/service-manifest";
import { z } from "zod";
import { StackError } from "../stack-error.js";

/** Plugin services that run beside the stack, which does not start them: id → task types. */
export type ExternalPlugins = Readonly<Record<string, readonly string[]>>;

const schema = z.record(z.string(), z.array(z.string()).min(1));

/** @throws StackError when the file is damaged */
export function readExternalPlugins(file: string): ExternalPlugins {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StackError(`${file} is damaged: remove it and add the plugins again`, { cause });
  }
}

export function writeExternalPlugins(file: string, plugins: ExternalPlugins): void {
  replaceFile(file, `${JSON.stringify(plugins, null, 2)}\n`);
}

/**
 * Derives the manifests of external plugins.
 *
 * @param services services of the stack
 * @throws StackError when an id or a task type is malformed, or belongs to a service or plugin
 *   already
 */
export function externalPluginManifests(plugins: ExternalPlugins, services: readonly ServiceManifest[]): readonly ServiceManifest[] {
  const owners = new Map(
    services.flatMap(({ id, taskTypes, configurableTaskTypes }) =>
      [...taskTypes, ...configurableTaskTypes].map((taskType) => [taskType, id] as const),
    ),
  );
  return Object.entries(plugins).map(([id, taskTypes]) => {
    if (services.some((service) => service.id === id)) throw new StackError(`${id} is a service of the stack: choose another id`);
    for (const taskType of taskTypes) {
      const owner = owners.get(taskType);
      if (owner !== undefined) throw new StackError(`task type ${taskType} of ${id} belongs to ${owner}`);
      owners.set(taskType, id);
    }
    return manifestOf(id, taskTypes);
  });
}

function manifestOf(id: string, taskTypes: readonly string[]): ServiceManifest {
  try {
    return defineService({ id, description: "Runs beside the stack.", plane: "local", taskTypes: [...taskTypes], requires: { bus: {} } });
  } catch (cause) {
    throw new StackError((cause as Error).message, { cause });
  }
}
