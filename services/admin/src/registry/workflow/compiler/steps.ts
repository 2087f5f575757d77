import { compileDependencies, formatCompileErrors } from "@flyte-ts/compiler";
import { type CompileOutcome, compileToBytes, type Templates } from "./compile-to-bytes.js";
import {
  decodeResolvedRefs,
  decodeTemplates,
  encodeRefs,
  type EncodedResolvedRefs,
  type EncodedRefs,
  type EncodedTemplates,
} from "./encoded-source.js";

/** Request to the thread: to decode templates, then to compile them with their references. */
export type WorkerRequest = { readonly open: EncodedTemplates } | { readonly compile: EncodedResolvedRefs };

/**
 * Reply: the references of the templates, the outcome, the reason why the bytes are invalid, or the
 * stack of an exception of the compiler.
 */
export type WorkerResponse =
  | { readonly referred: EncodedRefs }
  | { readonly outcome: CompileOutcome }
  | { readonly malformed: string }
  | { readonly fault: string };

/**
 * Processes the steps of one workflow after the other; only this thread decodes the nodes of a
 * large one.
 */
export function compileInSteps(): (request: WorkerRequest) => WorkerResponse {
  let opened: Templates | undefined;
  return (request) => {
    const templates = opened;
    opened = undefined;
    if ("compile" in request) {
      if (templates === undefined) throw new Error("no templates were opened");
      return { outcome: compileToBytes({ ...templates, ...decodeResolvedRefs(request.compile) }, { mutateTemplates: true }) };
    }
    let open: Templates;
    try {
      open = decodeTemplates(request.open);
    } catch (error) {
      return { malformed: error instanceof Error ? error.message : String(error) };
    }
    const { errors, ...referred } = compileDependencies(open.template, open.subWorkflows);
    if (errors.length > 0) return { outcome: { ok: false, errors: formatCompileErrors(errors) } };
    opened = open;
    return { referred: encodeRefs(referred) };
  };
}
