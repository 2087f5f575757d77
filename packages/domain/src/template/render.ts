import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { literalText } from "./literal-text.js";
import { escapeAppended, escapeReferences } from "./variable-reference.js";

/** Values of the templates in a task's command and arguments. */
export interface TemplateContext {
  /** `{{.input}}`: address of inputs.pb. */
  readonly inputPath: string;
  /** `{{.inputPrefix}}`: folder of inputs.pb. */
  readonly inputPrefix: string;
  readonly outputPrefix: string;
  readonly rawOutputPrefix: string;
  readonly checkpointPrefix: string;
  /** Checkpoint of the previous attempt; empty renders as `""`, which flytekit treats as none. */
  readonly previousCheckpointPrefix: string;
  /** Unique id of the attempt; `{{.perRetryUniqueKey}}` is made from it. */
  readonly uniqueId: string;
  readonly namespace: string;
  /** Address of task.pb; required only when usesTaskTemplatePath returns true. */
  readonly taskTemplatePath?: string | undefined;
  /** Values for `{{.inputs.name}}`. Without inputs these templates are left unchanged. */
  readonly inputs?: LiteralMap | undefined;
}

/** A template cannot be rendered; the author of the task must correct it. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

const TEMPLATE = /\{\{\s*[.$](?:inputs\.([^}\s]+)|(\w+))\s*\}\}/iy;
/** An input's name up to its end, whether or not the template is closed after it. */
const INPUT_NAME = /\{\{\s*[.$]inputs\.[^}\s]+/iy;
const TASK_TEMPLATE_PATH = /\{\{\s*[.$]taskTemplatePath\s*\}\}/i;
const NAMESPACE = /\{\{\s*[.$]namespace\s*\}\}/gi;

/** True when rendering needs the address of task.pb, which must then be written first. */
export function usesTaskTemplatePath(args: readonly string[]): boolean {
  return args.some((arg) => TASK_TEMPLATE_PATH.test(arg));
}

/**
 * Replaces the templates in each argument. Names match in any case, and unknown templates are left
 * unchanged. Replacements are not rendered again, except for the namespace in paths. References
 * `$(NAME)` in replacements are escaped, so that kubelets do not expand them; references written by
 * the task's author are kept.
 *
 * @throws TemplateError when an input is named that does not exist or has no text form.
 */
export function renderTemplate(args: readonly string[], context: TemplateContext): string[] {
  return args.map((arg) =>
    replaceTemplates(arg, (found) => {
      const value = valueOf(found, context);
      return value === undefined ? found.whole : escapeAppended(arg.slice(0, found.at), escapeReferences(value));
    }),
  );
}

/**
 * Replaces the templates in a text that no kubelet expands, such as a query: dollars stay as they
 * are.
 * @throws TemplateError when an input is named that does not exist or has no text form.
 */
export function renderText(text: string, context: TemplateContext): string {
  return replaceTemplates(text, (found) => valueOf(found, context) ?? found.whole);
}

/** Value of a template; undefined for an unknown one. */
function valueOf({ whole, input, name }: FoundTemplate, context: TemplateContext): string | undefined {
  if (input !== undefined) return inputText(whole, input, context.inputs);
  return path(name ?? "", context)?.replace(NAMESPACE, () => context.namespace);
}

interface FoundTemplate {
  readonly whole: string;
  readonly input: string | undefined;
  readonly name: string | undefined;
  readonly at: number;
}

/**
 * Replaces each match of {@link TEMPLATE} in linear time. A global search would read the name of an
 * input that is never closed again from each `{{` in it.
 */
function replaceTemplates(text: string, replacement: (found: FoundTemplate) => string): string {
  let result = "";
  let copied = 0;
  let openUntil = 0;
  for (let at = text.indexOf("{{"); at >= 0; at = text.indexOf("{{", at)) {
    TEMPLATE.lastIndex = at;
    // The name of an unclosed input contains no other template, unless a blank follows the braces.
    const match = at < openUntil && !/\s/.test(text.charAt(at + 2)) ? null : TEMPLATE.exec(text);
    if (match !== null) {
      const [whole, input, name] = match;
      result += text.slice(copied, at) + replacement({ whole, input, name, at });
      at += whole.length;
      copied = at;
      continue;
    }
    INPUT_NAME.lastIndex = at;
    if (at >= openUntil && INPUT_NAME.test(text)) openUntil = INPUT_NAME.lastIndex;
    at += 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function path(name: string, context: TemplateContext): string | undefined {
  switch (name.toLowerCase()) {
    case "input":
      return context.inputPath;
    case "inputprefix":
      return context.inputPrefix;
    case "outputprefix":
      return context.outputPrefix;
    case "rawoutputdataprefix":
      return context.rawOutputPrefix;
    case "checkpointoutputprefix":
      return context.checkpointPrefix;
    case "prevcheckpointprefix":
      return context.previousCheckpointPrefix === "" ? '""' : context.previousCheckpointPrefix;
    case "perretryuniquekey":
      return context.uniqueId.replace(/^[^a-zA-Z_]+/, "a").replace(/[^a-zA-Z0-9_]+/g, "_");
    case "namespace":
      return context.namespace;
    case "tasktemplatepath":
      if (context.taskTemplatePath === undefined) throw new TemplateError("taskTemplatePath: the task template was not written");
      return context.taskTemplatePath;
    default:
      return undefined;
  }
}

function inputText(template: string, name: string, inputs: LiteralMap | undefined): string | undefined {
  if (inputs === undefined || Object.keys(inputs.literals).length === 0) return undefined;
  const literal = Object.hasOwn(inputs.literals, name) ? inputs.literals[name] : undefined;
  if (literal === undefined) throw new TemplateError(`${template}: there is no input ${JSON.stringify(name)}`);
  try {
    return literalText(literal);
  } catch (cause) {
    throw new TemplateError(`${template}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
