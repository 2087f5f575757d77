import { compileDependencies, formatCompileErrors } from "@flyte-ts/compiler";
import { type CompileOutcome, compileToBytes, type Templates } from "./compile-to-bytes.js";
import {
  decodeReferences,
  decodeTemplates,
  encodeReferred,
  type EncodedReferences,
  type EncodedReferred,
  type EncodedTemplates,
} from "./encoded-source.js";

/** Request to the thread: to decode templates, then to compile them with their references. */
export type Step = { readonly open: EncodedTemplates } | { readonly compile: EncodedReferences };

/**
 * Reply: the references of the templates, the outcome, the reason why the bytes are invalid, or the stack of an
 * exception of the compiler.
 */
export type Reply =
  | { readonly referred: EncodedReferred }
  | { readonly outcome: CompileOutcome }
  | { readonly malformed: string }
  | { readonly fault: string };

/** Processes the steps of one workflow after the other; only this thread decodes the nodes of a large one. */
export function compileInSteps(): (step: Step) => Reply {
  let opened: Templates | undefined;
  return (step) => {
    const templates = opened;
    opened = undefined;
    if ("compile" in step) {
      if (templates === undefined) throw new Error("no templates were opened");
      return { outcome: compileToBytes({ ...templates, ...decodeReferences(step.compile) }, { mutateTemplates: true }) };
    }
    let open: Templates;
    try {
      open = decodeTemplates(step.open);
    } catch (error) {
      return { malformed: error instanceof Error ? error.message : String(error) };
    }
    const { errors, ...referred } = compileDependencies(open.template, open.subWorkflows);
    if (errors.length > 0) return { outcome: { ok: false, errors: formatCompileErrors(errors) } };
    opened = open;
    return { referred: encodeReferred(referred) };
  };
}
