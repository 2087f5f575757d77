import { create } from "@bufbuild/protobuf";
import { type CompiledWorkflow, type CompiledWorkflowClosure, CompiledWorkflowSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { BranchNode, Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** A graph of nodes: their definitions by id, and their upstream nodes. */
export class Graph {
  readonly #nodes: ReadonlyMap<string, Node>;
  readonly #workflow: CompiledWorkflow | undefined;
  readonly #closure: CompiledWorkflowClosure | undefined;

  constructor(closure: CompiledWorkflowClosure | undefined, workflow: CompiledWorkflow | undefined = closure?.primary) {
    this.#closure = closure;
    this.#workflow = workflow;
    this.#nodes = new Map(workflow?.template?.nodes.map((node) => [node.id, node]));
  }

  node(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  upstreamOf(id: string): readonly string[] {
    return this.#workflow?.connections?.upstream[id]?.ids ?? [];
  }

  /** Returns the graph of a sub-workflow of this closure. */
  subWorkflow(id: Identifier): Graph {
    const found = this.#closure?.subWorkflows.find(({ template }) => sameId(template?.id, id));
    return new Graph(this.#closure, found ?? EMPTY);
  }

  /** Returns the alternatives of a branch as a graph, of which one node runs. */
  arms(branch: BranchNode): Graph {
    return new Arms(this.#closure, branch);
  }
}

class Arms extends Graph {
  readonly #arms: ReadonlyMap<string, Node>;

  constructor(closure: CompiledWorkflowClosure | undefined, { ifElse }: BranchNode) {
    super(closure, EMPTY);
    const arms = [ifElse?.case?.thenNode, ...(ifElse?.other ?? []).map(({ thenNode }) => thenNode)];
    if (ifElse?.default.case === "elseNode") arms.push(ifElse.default.value);
    this.#arms = new Map(arms.flatMap((node) => (node === undefined ? [] : [[node.id, node] as const])));
  }

  override node(id: string): Node | undefined {
    return this.#arms.get(id);
  }
}

const EMPTY = create(CompiledWorkflowSchema);

function sameId(a: Identifier | undefined, b: Identifier): boolean {
  return a !== undefined && a.project === b.project && a.domain === b.domain && a.name === b.name && a.version === b.version;
}
