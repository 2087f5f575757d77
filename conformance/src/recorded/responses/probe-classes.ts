import { compileErrors, isListMismatch } from "../runs/compile-errors.js";
import type { DifferenceClass } from "../difference-classes.js";

/** A recorded request with its response, in the format of the record file. */
export interface ProbeCase {
  readonly id: string;
  readonly via?: string;
  readonly rpc?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Request as bytes instead of a message. */
  readonly hex?: string;
  readonly request?: unknown;
  readonly json?: unknown;
  readonly code?: string;
  readonly status?: number;
  readonly message?: string;
  readonly response?: unknown;
}

/** One difference line of a case, with all lines of that case. */
export interface ProbeDifference {
  readonly recorded: ProbeCase;
  readonly line: string;
  readonly lines: readonly string[];
}

/** Correct differences from Go FlyteAdmin's responses. */
export const PROBE_CLASSES: readonly DifferenceClass<ProbeDifference>[] = [
  {
    name: "request-that-cannot-be-decoded",
    reason:
      "An undecodable request is an error of the caller: INVALID_ARGUMENT. INTERNAL is reserved for errors of the server (docs/decisions/0008).",
    covers: ({ recorded, lines }) =>
      recorded.hex !== undefined &&
      recorded.code === "INTERNAL" &&
      recorded.message?.startsWith("grpc: error unmarshalling request: ") === true &&
      only(lines, /^code: INVALID_ARGUMENT want INTERNAL \(/),
  },
  {
    name: "array-with-lists",
    reason:
      "Arrays over launch plans and over tasks with their own interface have lists as inputs and outputs, so they compile; Go Flyte uses the item's interface as the array's and reports wrong types (docs/decisions/0012).",
    covers: ({ recorded, lines }) => {
      const template = registeredTemplate(recorded);
      const arrays = template === undefined ? [] : arraysOfOwnInterface(template);
      const errors = compileErrors(recorded.message ?? "");
      if (arrays.length === 0 || errors === undefined || !only(lines, CREATED_INSTEAD_OF_REFUSED)) return false;
      return errors.every((error) => {
        const array = arrays.find(({ id }) => id === error.node);
        if (error.code === "VariableNameNotFound") {
          return array?.bound.some((name) => error.description === `Variable [${name}] not found on node [${array.id}].`) === true;
        }
        const from = /^The output variable '([^.']+)\./.exec(error.description)?.[1];
        return isListMismatch(error) && (array !== undefined || arrays.some(({ id }) => id === from));
      });
    },
  },
  {
    name: "signed-in-another-second",
    reason: "A signed URL contains the second of its signature; the record holds several of one second.",
    covers: ({ recorded, line }) =>
      /^response\.(pre_signed_urls\.)?signed_url(\[\d+\])?: "<url>" want "\$\{\w+\}"$/.test(line) &&
      /^(CreateDownloadLink|CreateDownloadLocation|artifact_link)$/.test(callOf(recorded)),
  },
  {
    name: "first-start-stands",
    reason: "An execution keeps its first start when RUNNING is reported again; Go FlyteAdmin uses the later one for start and duration.",
    covers: ({ line, lines }) => {
      const [, place, field, observed, recorded] = CLOSURE_TIME.exec(line) ?? [];
      const starts = field === "started_at" ? line : lines.find((each) => each.startsWith(`${place}started_at: `));
      const [, , , ourStart, theirStart] = CLOSURE_TIME.exec(starts ?? "") ?? [];
      if (place === undefined || ourStart === undefined || theirStart === undefined) return false;
      const later = (Date.parse(theirStart) - Date.parse(ourStart)) / 1_000;
      return later > 0 && (field === "started_at" || secondsOf(observed) - secondsOf(recorded) === later);
    },
  },
  {
    name: "no-negative-durations",
    reason: "An execution whose reported end precedes its start has a duration of zero; Go FlyteAdmin computes a negative one.",
    covers: ({ recorded, line }) => {
      const place = /^response\.((?:executions\[\d+\]\.)?closure)\.duration: "0s" want "<dur>"$/.exec(line)?.[1];
      const { started_at: start, updated_at: end } = (place === undefined ? {} : valueAtPlace(recorded.response, place)) as Record<
        string,
        string
      >;
      return start !== undefined && end !== undefined && Date.parse(end) < Date.parse(start);
    },
  },
  {
    name: "origin-is-named",
    reason: "A response names the allowed origin instead of a wildcard, and varies by it.",
    covers: ({ recorded: { headers }, line, lines }) => {
      const named = `headers.access-control-allow-origin: ${JSON.stringify(headers?.Origin)} want "*"`;
      return headers?.Origin !== undefined && lines.includes(named) && (line === named || line === 'headers.vary: "Origin" want null');
    },
  },
];

/** Start or duration of an execution, in whole seconds. */
const CLOSURE_TIME = /^(response\.(?:executions\[\d+\]\.)?closure\.)(started_at|duration): "([^"<]+)" want "([^"<]+)"$/;

const secondsOf = (duration: string | undefined): number => Number(/^(\d+)s$/.exec(duration ?? "")?.[1]);

/** Returns the value at a path in the driver's notation: `executions[3].closure`. */
function valueAtPlace(value: unknown, place: string): unknown {
  return place.split(/[.[\]]+/).reduce<unknown>((inner, key) => child(inner, key), value) ?? {};
}

const CREATED_INSTEAD_OF_REFUSED = /^(code: OK want INVALID_ARGUMENT|status: 200 want 400) \(/;

/** Reports whether there is exactly one line and it matches the form. */
const only = (lines: readonly string[], form: RegExp): boolean => lines.length === 1 && form.test(lines[0] ?? "");

const callOf = ({ rpc, path }: ProbeCase): string => (rpc ?? path ?? "").replace(/^.*\//, "");

/** Returns the template of the workflow that the request registers. */
function registeredTemplate(recorded: ProbeCase): unknown {
  const registers = recorded.rpc === "AdminService/CreateWorkflow" || (recorded.method === "POST" && recorded.path === "/api/v1/workflows");
  return registers ? child(child(recorded.request ?? recorded.json, "spec"), "template") : undefined;
}

interface ArrayOfOwnInterface {
  readonly id: string;
  readonly bound: readonly string[];
}

/**
 * Lists the array nodes whose items keep their own interface: those over launch plans, and those
 * that declare it.
 */
function arraysOfOwnInterface(template: unknown): ArrayOfOwnInterface[] {
  const nodes = child(template, "nodes");
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node): ArrayOfOwnInterface[] => {
    const array = child(node, "array_node", "arrayNode");
    const item = child(array, "node");
    const own = child(array, "is_original_sub_node_interface", "isOriginalSubNodeInterface") === true;
    if (array === undefined || (!own && child(item, "workflow_node", "workflowNode") === undefined)) return [];
    const bound = child(array, "bound_inputs", "boundInputs");
    return [{ id: String(child(node, "id")), bound: Array.isArray(bound) ? bound.map(String) : [] }];
  });
}

/** Returns the value of the first existing key; REST uses other names than gRPC's JSON. */
function child(value: unknown, ...keys: readonly string[]): unknown {
  if (value === null || typeof value !== "object") return undefined;
  const key = keys.find((each) => Object.hasOwn(value, each));
  return key === undefined ? undefined : (value as Record<string, unknown>)[key];
}
