import { phaseNames } from "../../executions/index.js";
import type { CompletedExecution } from "../model/completed-execution.js";

/** Escapes a value for a text. */
export type Escape = (text: string) => string;

/** Flyte's placeholders by name. */
const PLACEHOLDERS: Readonly<Record<string, (execution: CompletedExecution) => string>> = {
  project: ({ project }) => project,
  domain: ({ domain }) => domain,
  name: ({ name }) => name,
  phase: ({ phase }) => phaseNames.workflowPhaseName(phase).toLowerCase(),
  // A separate sentence with a leading space, or nothing.
  error: ({ error }) => (error === undefined ? "" : ` The execution failed with error: [${error.message}].`),
  "workflow.project": ({ workflow }) => workflow?.project ?? "",
  "workflow.domain": ({ workflow }) => workflow?.domain ?? "",
  "workflow.name": ({ workflow }) => workflow?.name ?? "",
  "workflow.version": ({ workflow }) => workflow?.version ?? "",
  "launch_plan.project": ({ launched }) => launched?.project ?? "",
  "launch_plan.domain": ({ launched }) => launched?.domain ?? "",
  "launch_plan.name": ({ launched }) => launched?.name ?? "",
  "launch_plan.version": ({ launched }) => launched?.version ?? "",
};

/**
 * Maximum length of a rendered text. An error is many times as long as its placeholder, and each
 * recipient gets a copy.
 */
const MAX_LENGTH = 131_072;

/** A template becomes too long when it is rendered. */
export class RenderedTextError extends Error {
  override readonly name = "RenderedTextError";
}

/**
 * Renders a template: `{{ name }}` or `{{name}}`. As in Flyte, unknown placeholders stay unchanged.
 * Placeholders inside values are not replaced.
 *
 * @throws RenderedTextError when the text has more than 131,072 characters.
 */
export function render(template: string, execution: CompletedExecution, escape: Escape = (text) => text): string {
  let { length } = template;
  const checkLength = (): void => {
    if (length > MAX_LENGTH) throw new RenderedTextError(`a template has more than ${MAX_LENGTH} characters when it is rendered`);
  };
  checkLength();
  return template.replaceAll(/\{\{ ([a-z_.]+) \}\}|\{\{([a-z_.]+)\}\}/g, (whole, spaced?: string, close?: string) => {
    const name = spaced ?? close ?? "";
    if (!Object.hasOwn(PLACEHOLDERS, name)) return whole;
    const value = escape(PLACEHOLDERS[name]?.(execution) ?? "");
    length += value.length;
    checkLength();
    return value;
  });
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const SLACK: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export const escapeHtml: Escape = (text) => text.replaceAll(/[&<>"']/g, (character) => HTML[character] ?? "");

/**
 * Slack interprets `<…>` as links and mentions: `<!channel>` in an error would notify all members.
 */
export const escapeSlack: Escape = (text) => text.replaceAll(/[&<>]/g, (character) => SLACK[character] ?? "");
