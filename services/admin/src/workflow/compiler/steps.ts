import { requirementsOf, formatCompileErrors } from "@flyte-ts/compiler";
import { type CompileOutcome, compileToBytes, type Templates } from "./compile-to-bytes.js";
import {
  decodeReferences,
  decodeTemplates,
  encodeReferred,
  type EncodedReferences,
  type EncodedReferred,
  type EncodedTemplates,
} from "./encoded-source.js";

/** What the thread is asked: to open templates, then to compile them with what they refer to. */
export type Step = { readonly open: EncodedTemplates } | { readonly compile: EncodedReferences };

/**
 * The answer: what the templates refer to, the outcome, why the templates' bytes are none, or the stack of what the compiler threw.
 */
export type Reply =
  | { readonly referred: EncodedReferred }
  | { readonly outcome: CompileOutcome }
  | { readonly malformed: string }
  | { readonly fault: string };

/** Takes the steps of one workflow after the other; the nodes of a large one are decoded here alone. */
export function compileInSteps(): (step: Step) => Reply {
  let opened: Templates | undefined;
  return (step) => {
    const templates = opened;
    opened = undefined;
    if ("compile" in step) {
      if (templates === undefined) throw new Error("no templates were opened");
      return { outcome: compileToBytes({ ...templates, ...decodeReferences(step.compile) }, { templatesMayChange: true }) };
    }
    let open: Templates;
    try {
      open = decodeTemplates(step.open);
    } catch (error) {
      return { malformed: error instanceof Error ? error.message : String(error) };
    }
    const { errors, ...referred } = requirementsOf(open.template, open.subWorkflows);
    if (errors.length > 0) return { outcome: { ok: false, errors: formatCompileErrors(errors) } };
    opened = open;
    return { referred: encodeReferred(referred) };
  };
}
